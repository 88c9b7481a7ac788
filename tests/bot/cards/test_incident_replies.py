"""Replies in the threads of incidents: stored as facts, worded when they are posted."""

from dataclasses import replace

from alerts.cards.posted import ThreadReply
from alerts.cards.text import plain, text
from alerts.incidents.incident import Incident
from tests.support.alerting import a_rule
from tests.support.evaluation import Canned, EvaluationStage, hot


def a_yard() -> EvaluationStage:
    return EvaluationStage(rules=(a_rule(severity="critical"),), metrics=Canned(hot((0, 5), (12, 17))))


async def test_a_stored_reply_is_a_card_and_an_event() -> None:
    yard = a_yard()
    await yard.run(6)

    (line,) = await yard.lines()
    (incident,) = await yard.incidents()
    assert (line.card, line.event, line.text) == ("incident/i1/C1", incident.events[-1].number, ())


async def test_it_has_buttons_only_while_what_it_says_holds() -> None:
    yard = a_yard()
    await yard.run(13)
    while_open = (await yard.worded())[-1]
    await yard.run(18, start=13)
    later = (await yard.worded())[-2]

    assert while_open.broadcast
    assert [button.label for button in while_open.buttons] == ["Acknowledge"]
    assert later.id == while_open.id
    assert later.buttons == ()
    assert plain(later.text).startswith("Reopened: ")


async def test_the_end_of_an_incident_that_was_reopened_says_how_long_it_stood_then() -> None:
    yard = a_yard()
    await yard.run(6)
    at_once = (await yard.said())[0][1]
    await yard.run(13, start=6)
    late = (await yard.said())[0][1]

    assert at_once == "Resolved after 5 min. No action was taken through Yardmaster."
    assert late == "Resolved after 5 min."


async def test_a_reply_that_an_earlier_program_worded_stays_as_it_is() -> None:
    yard = a_yard()
    await yard.run(6)
    (line,) = await yard.lines()
    async with yard.store.unit() as unit:
        await unit.rows(ThreadReply).put(replace(line, event=0, text=text("Resolved, as it was worded.")))

    assert await yard.said() == [("incident/i1/C1", "Resolved, as it was worded.")]


async def test_nothing_is_said_of_an_incident_that_is_no_longer_stored() -> None:
    yard = a_yard()
    await yard.run(6)
    async with yard.store.unit() as unit:
        await unit.rows(Incident).delete("i1")

    assert await yard.said() == [("incident/i1/C1", "")]
