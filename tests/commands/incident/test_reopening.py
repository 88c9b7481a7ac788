"""A word that an incident is over can be taken back: it stands again as it stood, and the channel reads it."""

from dataclasses import replace
from pathlib import Path

import pytest

from alerts.cards.posted import CardKind, PostedCard, ThreadReply, card_id
from alerts.incidents.grouping import GroupingContext, acknowledge, open_incident, resolve_if_over
from alerts.incidents.incident import Incident
from alerts.incidents.proofs import say_over
from alerts.rules import ResolveWhen
from tests.support.alerting import NOON, a_rule, a_topology, an_alert, minutes, resolved
from tests.support.grouping import add_alert
from tests.support.incident_yard import stored, yard_with

REOPEN = 'incident reopen i1 --reason "wrong node"'
CARD = PostedCard(
    id=card_id(CardKind.INCIDENT, "i1", "slack:C1"),
    cluster="prod-a",
    kind=CardKind.INCIDENT,
    row_id="i1",
    channel="slack:C1",
    message_id="1.1",
    is_final=True,
)


def waiting(when: ResolveWhen = ResolveWhen.PROVEN, *, proof: str = "word") -> Incident:
    """An incident whose alert has resolved, and that stays open all the same."""
    alert = replace(
        an_alert("Lost", severity="critical"), annotations={"summary": "It is lost.", "proof": proof}
    )
    grouping = GroupingContext(rules={alert.rule: a_rule("Lost", resolve_when=when)}, topology=a_topology())
    incident = open_incident("i1", alert, channels=("slack:C1",), now=NOON)
    for one in (alert, resolved(alert, NOON + minutes(5))):
        incident = add_alert(incident, one, grouping, NOON + minutes(5))
    return incident


def over(when: ResolveWhen = ResolveWhen.PROVEN) -> Incident:
    """The same after a person said that it is over."""
    said = say_over(waiting(when), who="U_BO", who_name="bo", reason="fixed", now=NOON + minutes(10))
    if when is ResolveWhen.ACKNOWLEDGED:
        said = acknowledge(said, who="U_BO", who_name="bo", now=NOON + minutes(10))
    done = resolve_if_over(said, NOON + minutes(10))
    assert not done.is_open
    return done


@pytest.mark.parametrize("when", [ResolveWhen.PROVEN, ResolveWhen.ACKNOWLEDGED])
async def test_it_stands_again_as_it_stood_and_stays_so(tmp_path: Path, when: ResolveWhen) -> None:
    async with yard_with(tmp_path, over(when)) as yard:
        answer = await yard.say(REOPEN)
        again = await stored(yard)

    assert "You reopened incident i1: It is lost" in answer
    assert again.is_open
    assert (again.acknowledged_by, again.opened_at, again.times) == ("", NOON, 1)
    assert resolve_if_over(again, NOON + minutes(60)).is_open
    assert again.members == waiting(when).members


async def test_an_acknowledgement_from_before_the_word_stays(tmp_path: Path) -> None:
    before = acknowledge(waiting(), who="U_ANA", who_name="ana", now=NOON + minutes(6))
    said = say_over(before, who="U_BO", who_name="bo", reason="fixed", now=NOON + minutes(10))
    async with yard_with(tmp_path, resolve_if_over(said, NOON + minutes(10))) as yard:
        await yard.say(REOPEN)
        assert (await stored(yard)).acknowledged_by_name == "ana"


async def test_a_word_that_has_not_ended_it_yet_is_taken_back_too(tmp_path: Path) -> None:
    said = say_over(waiting(), who="U_BO", who_name="bo", reason="fixed", now=NOON + minutes(10))
    async with yard_with(tmp_path, said) as yard:
        await yard.say(REOPEN)
        again = await stored(yard)
    assert resolve_if_over(again, NOON + minutes(60)).is_open


async def test_its_card_lives_again_and_the_channel_reads_who_reopened_it_and_why(tmp_path: Path) -> None:
    async with yard_with(tmp_path, over()) as yard:
        async with yard.store.unit() as unit:
            await unit.rows(PostedCard).put(CARD)
        await yard.say(REOPEN)
        async with yard.store.read() as snapshot:
            card = await snapshot.rows(PostedCard).get(CARD.id)
            (reply,) = [
                one
                for one in await snapshot.rows(ThreadReply).find(card=CARD.id)
                if one.event == (await stored(yard)).events[-1].number
            ]
        history = await yard.say("incident show i1")

    assert card is not None
    assert not card.is_final
    assert reply.broadcast
    assert "Reopened by dana: wrong node." in history


@pytest.mark.parametrize(
    ("incident", "line", "words"),
    [
        pytest.param(waiting(), REOPEN, "Incident i1 is open", id="open, and nobody said anything"),
        pytest.param(
            replace(waiting(), resolved_at=NOON + minutes(6)),
            REOPEN,
            "Incident i1 ended by itself",
            id="it ended by itself",
        ),
        pytest.param(over(), REOPEN.replace("i1", "i9"), "There is no", id="unknown"),
    ],
)
async def test_what_no_word_ended_is_not_reopened(
    tmp_path: Path, incident: Incident, line: str, words: str
) -> None:
    async with yard_with(tmp_path, incident) as yard:
        assert words in await yard.say(line)
        assert await stored(yard) == incident


async def test_where_a_newer_one_is_open_of_the_same_object_there_would_be_two(tmp_path: Path) -> None:
    newer = replace(waiting(), id="i2")
    async with yard_with(tmp_path, over()) as yard:
        async with yard.store.unit() as unit:
            await unit.rows(Incident).put(newer)
        assert "i2 is open about the same object" in await yard.say(REOPEN)
        assert not (await stored(yard)).is_open


async def test_it_asks_for_a_reason(tmp_path: Path) -> None:
    async with yard_with(tmp_path, over()) as yard:
        answer = await yard.answer("incident reopen i1")
    assert answer is not None
    assert answer.form is not None


async def test_who_said_so_by_mistake_has_a_button_to_take_it_back(tmp_path: Path) -> None:
    async with yard_with(tmp_path, waiting()) as yard:
        said = await yard.say('incident resolve i1 --reason "fixed"')
    assert "[Reopen] incident reopen i1" in said
