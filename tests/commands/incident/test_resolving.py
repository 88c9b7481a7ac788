"""A person's word that an incident is over: who may say it, of what, and what the card then says."""

from dataclasses import replace
from pathlib import Path

import pytest

from alerts.cards.event_words import event_text
from alerts.cards.incident_card import incident_card
from alerts.cards.message import Buttons, Paragraph
from alerts.cards.text import plain
from alerts.incidents.grouping import GroupingContext, open_incident, resolve_if_over
from alerts.incidents.incident import Incident
from alerts.rules import ResolveWhen
from tests.support.alerting import NOON, a_rule, a_topology, an_alert, minutes, resolved
from tests.support.grouping import add_alert
from tests.support.incident_yard import stored, yard_with

RESOLVE = 'incident resolve i1 --reason "GPU replaced"'


def waiting(when: ResolveWhen = ResolveWhen.PROVEN, *, fires: bool = False) -> Incident:
    """An incident whose alert has resolved, and that stays open all the same."""
    alert = replace(
        an_alert("Lost", severity="critical"), annotations={"summary": "It is lost.", "proof": "word"}
    )
    grouping = GroupingContext(rules={alert.rule: a_rule("Lost", resolve_when=when)}, topology=a_topology())
    incident = open_incident("i1", alert, channels=("slack:C1",), now=NOON)
    last = alert if fires else resolved(alert, NOON + minutes(5))
    for one in (alert, last):
        incident = add_alert(incident, one, grouping, NOON + minutes(5))
    return incident


def said_on(incident: Incident) -> list[str]:
    card = incident_card(incident, now=NOON + minutes(9))
    return [plain(block.text) for block in card.blocks if isinstance(block, Paragraph)]


def buttons_of(incident: Incident) -> list[str]:
    card = incident_card(incident, now=NOON + minutes(9))
    return [button.label for block in card.blocks if isinstance(block, Buttons) for button in block.buttons]


async def test_a_word_ends_what_waits_for_a_proof_and_the_card_says_whose(tmp_path: Path) -> None:
    assert "Stays open until somebody says incident resolve i1." in said_on(waiting())
    assert buttons_of(waiting()) == ["Acknowledge", "It is over"]
    async with yard_with(tmp_path, waiting()) as yard:
        answer = await yard.say(RESOLVE)
        assert "You said that incident i1 is over: It is lost" in answer
        over = resolve_if_over(await stored(yard), NOON + minutes(30))

    assert not over.is_open
    assert [event.who_name for event in over.events if event.who] == ["dana"]
    assert (
        plain(event_text(over, over.events[-2])) == "Proven over: dana said that it was over: GPU replaced."
    )
    assert "dana said that it was over: GPU replaced." in said_on(over)[1]
    assert not any("Stays open" in line for line in said_on(over))


async def test_a_word_also_acknowledges_what_waits_for_that(tmp_path: Path) -> None:
    async with yard_with(tmp_path, waiting(ResolveWhen.ACKNOWLEDGED)) as yard:
        await yard.say(RESOLVE)
        over = resolve_if_over(await stored(yard), NOON + minutes(30))

    assert (over.is_open, over.acknowledged_by_name) == (False, "dana")


@pytest.mark.parametrize(
    ("incident", "line", "words"),
    [
        pytest.param(
            waiting(fires=True),
            RESOLVE,
            "Incident i1 is not over: It is lost.",
            id="fires",
        ),
        pytest.param(
            replace(waiting(), resolved_at=NOON + minutes(6)),
            RESOLVE,
            "already resolved",
            id="over",
        ),
        pytest.param(
            waiting(),
            RESOLVE.replace("i1", "i9"),
            "There is no open incident i9",
            id="unknown",
        ),
    ],
)
async def test_a_word_that_says_nothing_is_refused(
    tmp_path: Path, incident: Incident, line: str, words: str
) -> None:
    async with yard_with(tmp_path, incident) as yard:
        assert words in await yard.say(line)
        assert await stored(yard) == incident


async def test_an_acknowledgement_is_not_a_proof(tmp_path: Path) -> None:
    async with yard_with(tmp_path, waiting()) as yard:
        await yard.say("alert ack i1")
        acknowledged = await stored(yard)

    assert acknowledged.acknowledged_by_name == "dana"
    assert resolve_if_over(acknowledged, NOON + minutes(30)).is_open


async def test_its_end_asks_for_a_reason_and_opens_its_form(tmp_path: Path) -> None:
    async with yard_with(tmp_path, waiting()) as yard:
        answer = await yard.answer("incident resolve i1")
        still = await stored(yard)

    assert answer is not None
    assert answer.form is not None
    assert (answer.form.command.name, tuple(answer.form.words)) == ("incident resolve", ("i1",))
    assert still.events == waiting().events
