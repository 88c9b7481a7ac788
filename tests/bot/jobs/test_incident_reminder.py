"""Critical incidents that nobody has acknowledged are repeated in their channel, once a period."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from alerts.cards.posted import CardKind, PostedCard, ThreadReply, card_id
from alerts.cards.text import plain
from alerts.incidents.events import IncidentEventType
from alerts.incidents.grouping import GroupingContext, acknowledge, give_back, open_incident
from alerts.incidents.incident import Incident
from alerts.inhibition import InhibitRule
from alerts.lifecycle import AlertState
from alerts.matching import parse_matchers
from alerts.routing import CardRouting
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext
from bot.jobs.agenda import Agenda
from bot.jobs.incident_reminder import IncidentReminder
from tests.support.alerting import CLUSTER, NOON, a_topology, an_alert, minutes
from tests.support.grouping import add_alert
from tests.support.memory_store import MemoryStore
from tests.support.rows import a_silence
from tests.support.yard import Hands

CONTEXT = CardContext(rules=dict, training=lambda *_: None, blind=lambda *_: {})
EVERY = minutes(30)


def an_incident(
    id: str = "i1", node: str = "gpu-a01", *, severity: str = "critical", opened: float = 0
) -> Incident:
    at = NOON + minutes(opened)
    alert = an_alert("Lost", node=node, severity=severity, summary=f"{node} is lost.", at=at)
    first = open_incident(id, alert, channels=("slack:C1",), now=at)
    return add_alert(first, alert, GroupingContext(rules={}, topology=a_topology()), at)


def card_of(id: str) -> PostedCard:
    return PostedCard(
        id=card_id(CardKind.INCIDENT, id, "slack:C1"),
        cluster=CLUSTER,
        kind=CardKind.INCIDENT,
        row_id=id,
        channel="slack:C1",
        message_id=f"1.{id}",
    )


class Stage:
    """A reminder that may be started again over the same store."""

    def __init__(self, every: timedelta = EVERY, routing: CardRouting | None = None) -> None:
        self.store = MemoryStore()
        self.clock = Hands(NOON)
        self.every = every
        self.routing = routing or CardRouting()

    async def put(self, *rows: Any) -> None:
        async with self.store.unit() as unit:
            for row in rows:
                await unit.rows(type(row)).put(row)
                if isinstance(row, Incident):
                    await unit.rows(PostedCard).put(card_of(row.id))

    async def incident(self, id: str = "i1") -> Incident:
        async with self.store.read() as snapshot:
            found = await snapshot.rows(Incident).get(id)
        assert found is not None
        return found

    async def until(self, after: float) -> None:
        """Let time pass by the minute, each with a new process."""
        while self.clock.at < NOON + minutes(after):
            self.clock.at += minutes(1)
            reminder = IncidentReminder(self.store, every=self.every, routing=self.routing)
            agenda = Agenda(self.store, self.clock, reminder.works)
            while not await agenda.run_due():
                continue

    async def replies(self) -> list[ThreadReply]:
        async with self.store.read() as snapshot:
            return list(await snapshot.rows(ThreadReply).find())

    async def said(self) -> list[str]:
        async with self.store.read() as snapshot:
            catalogue = CardCatalogue(CONTEXT)
            found = [await catalogue.compose_reply(one, snapshot) for one in await self.replies()]
        return [plain(one.text) for one in found]


async def test_it_is_repeated_once_a_period_and_in_the_channel() -> None:
    stage = Stage()
    await stage.put(an_incident())

    await stage.until(29)
    assert await stage.replies() == []
    await stage.until(59)
    (first,) = await stage.replies()
    assert first.broadcast
    (said,) = await stage.said()
    assert said.startswith("Nobody has acknowledged this for 30 min: gpu-a01 is lost")
    await stage.until(95)
    assert len(await stage.replies()) == 3
    assert (await stage.said())[-1].startswith("Nobody has acknowledged this for 1 h 30 min: gpu-a01 is lost")


async def test_one_that_another_alert_inhibits_is_repeated_once_that_is_over() -> None:
    inhibits = InhibitRule(
        sources=parse_matchers('alertname="RackLost"'), targets=parse_matchers('alertname="Lost"'), equal=()
    )
    stage = Stage(routing=CardRouting(default="slack:C1", inhibit_rules=(inhibits,)))
    source, target = an_alert("RackLost"), an_alert("Lost", node="gpu-a01", severity="critical")
    await stage.put(an_incident(), source, target)

    await stage.until(65)
    assert await stage.replies() == []
    await stage.put(replace(source, life=replace(source.life, state=AlertState.RESOLVED)))
    await stage.until(67)
    assert len(await stage.replies()) == 1


async def test_only_the_last_reminder_is_in_the_history() -> None:
    stage = Stage()
    await stage.put(an_incident())
    await stage.until(125)
    reminded = [one for one in (await stage.incident()).events if one.type is IncidentEventType.REMINDED]
    assert [one.at for one in reminded] == [NOON + minutes(120)]


@pytest.mark.parametrize(
    "incident",
    [
        pytest.param(an_incident(severity="warning"), id="a warning"),
        pytest.param(acknowledge(an_incident(), who="U1", now=NOON), id="acknowledged"),
        pytest.param(replace(an_incident(), resolved_at=NOON + minutes(1)), id="resolved"),
    ],
)
async def test_what_calls_for_nobody_is_not_repeated(incident: Incident) -> None:
    stage = Stage()
    await stage.put(incident)
    await stage.until(70)
    assert await stage.replies() == []


async def test_without_a_period_nothing_is_repeated() -> None:
    stage = Stage(timedelta())
    await stage.put(an_incident())
    await stage.until(70)
    assert await stage.replies() == []


async def test_a_silence_postpones_it_to_its_end() -> None:
    stage = Stage()
    silence = replace(
        a_silence(NOON, "a=b", cluster=CLUSTER, ends_at=NOON + minutes(50), incident="i1"), matchers=()
    )
    await stage.put(an_incident(), silence, an_alert("Lost", severity="critical"))
    await stage.until(49)
    assert await stage.replies() == []
    await stage.until(52)
    assert len(await stage.replies()) == 1


async def test_one_without_a_card_has_no_thread_to_be_repeated_in() -> None:
    stage = Stage()
    async with stage.store.unit() as unit:
        await unit.rows(Incident).put(an_incident())
    await stage.until(40)
    assert await stage.replies() == []


async def test_an_acknowledgement_that_is_taken_back_starts_the_period_again() -> None:
    stage = Stage()
    mine = acknowledge(an_incident(), who="U1", now=NOON + minutes(5))
    await stage.put(give_back(mine, who="U1", who_name="ann", now=NOON + minutes(20)))
    await stage.until(49)
    assert await stage.replies() == []
    await stage.until(51)
    assert (await stage.said())[0].startswith("Nobody has acknowledged this for 30 min")


async def test_what_was_acknowledged_before_the_reminder_could_be_posted_says_nothing() -> None:
    stage = Stage()
    await stage.put(an_incident())
    await stage.until(31)
    await stage.put(acknowledge(await stage.incident(), who="U1", now=NOON + minutes(31)))
    assert await stage.said() == [""]
    taken_back = give_back(await stage.incident(), who="U1", who_name="ann", now=NOON + minutes(32))
    await stage.put(taken_back)
    assert await stage.said() == [""]


async def test_many_at_once_are_one_message() -> None:
    stage = Stage()
    many = [an_incident(f"i{number}", f"gpu-b{number:02}", opened=number / 4) for number in range(12)]
    await stage.put(*many)
    await stage.until(40)

    (said,) = await stage.said()
    assert said.startswith("Nobody has acknowledged 12 critical incidents, the first for 30 min: ")
    (reply,) = await stage.replies()
    assert [button.line for button in reply.buttons] == ["incident list"]
    await stage.until(70)
    assert len(await stage.replies()) == 2
