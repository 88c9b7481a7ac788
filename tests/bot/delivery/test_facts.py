"""Incidents in a channel for programs, where each post is taken for the state of its object."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from alerts.cards.desired_cards import desired_cards
from alerts.cards.posted import PostedCard
from alerts.incidents.grouping import REOPENS_WITHIN
from alerts.incidents.incident import Incident
from alerts.lifecycle import AlertState
from alerts.matching import parse_matchers
from alerts.silences import Silence
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext
from bot.delivery.notifier_protocol import Capabilities
from bot.delivery.rate_limiter import UNLIMITED
from bot.delivery.reconciler import Reconciler
from tests.support.chat import START, FakeChat, Fault, LoopClock
from tests.support.grouping import add_alert
from tests.support.incidents import GROUPING, an_open_incident
from tests.support.memory_store import MemoryStore
from tests.support.rows import an_alert
from tests.support.running_jobs import running

pytestmark = pytest.mark.looptime

HOT = an_alert("gpu-a04", at=START)
FAN = replace(HOT, rule="gpu/heat/GPUFanFailed", labels=HOT.labels.with_(alertname="GPUFanFailed"))
AFTER_THE_END = REOPENS_WITHIN + timedelta(minutes=5)


class Programs:
    """A store, and delivery of its incidents to a channel that takes facts."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.chat = FakeChat(seconds_a_post=0.0, capabilities=Capabilities(facts=True, limits=UNLIMITED))
        self.clock = LoopClock()

    async def put(self, *rows: Any) -> None:
        async with self.store.unit() as unit:
            for row in rows:
                await unit.rows(type(row)).put(row)
                if isinstance(row, Incident):
                    posted = {card.id: card for card in await unit.rows(PostedCard).find()}
                    for card in desired_cards(row, posted):
                        await unit.rows(PostedCard).put(card)

    def opened(self, id: str) -> Incident:
        incident = an_open_incident(HOT, id=id, channels=("hook:night",))
        return replace(incident, opened_at=self.clock.now())

    def over(self, incident: Incident) -> Incident:
        now = self.clock.now()
        members = tuple(replace(one, state=AlertState.RESOLVED, resolved_at=now) for one in incident.members)
        return replace(incident, members=members, resolved_at=now)

    @asynccontextmanager
    async def delivering(self) -> AsyncIterator[None]:
        context = CardContext(
            rules=dict, training=lambda *_: None, blind=lambda *_: {}, wants_facts=lambda _: True
        )
        reconciler = Reconciler(self.store, {"hook": self.chat}, CardCatalogue(context), clock=self.clock)
        async with running(self.store, reconciler):
            yield

    @property
    def states(self) -> list[str]:
        """What was posted, in its order: firing or resolved."""
        return ["resolved" if said.startswith("Resolved") else "firing" for said in self.chat.said("night")]


@pytest.fixture
def programs() -> Programs:
    return Programs()


async def sleep(span: timedelta) -> None:
    await asyncio.sleep(span.total_seconds())


async def test_the_end_of_an_incident_is_not_posted_while_its_object_is_broken_again(
    programs: Programs,
) -> None:
    """It would be taken for the end of the new incident: both have one group key."""
    async with programs.delivering():
        first = programs.opened("i1")
        await programs.put(HOT, first)
        await asyncio.sleep(5)
        programs.chat.faults("post", *[Fault.DOWN] * 10_000)
        await programs.put(programs.over(first))
        await sleep(AFTER_THE_END)
        second = programs.opened("i2")
        await programs.put(second)
        programs.chat.script.clear()
        await sleep(timedelta(minutes=10))
        assert programs.states == ["firing", "firing"]
        await programs.put(programs.over(second))
        await sleep(timedelta(minutes=10))
        assert programs.states == ["firing", "firing", "resolved", "resolved"]
        await sleep(AFTER_THE_END)
        await programs.put(HOT)  # a change wakes it
        await asyncio.sleep(5)
    async with programs.store.read() as snapshot:
        assert not await snapshot.rows(PostedCard).find(state="live")


async def test_a_restart_posts_no_end_while_the_object_is_broken_again(programs: Programs) -> None:
    first = programs.opened("i1")
    await programs.put(HOT, first)
    async with programs.delivering():
        await asyncio.sleep(5)
    await programs.put(programs.over(first))
    await sleep(AFTER_THE_END)
    await programs.put(programs.opened("i2"))
    async with programs.delivering():
        await sleep(timedelta(minutes=5))
    assert programs.states == ["firing", "firing"]


async def test_an_incident_in_another_channel_withholds_no_end(programs: Programs) -> None:
    async with programs.delivering():
        first = programs.opened("i1")
        await programs.put(HOT, first, replace(programs.opened("i2"), channels=("hook:day",)))
        await asyncio.sleep(5)
        await programs.put(programs.over(first))
        await asyncio.sleep(5)
    assert programs.states == ["firing", "resolved"]


async def test_what_is_silenced_is_posted_when_the_silence_has_ended(programs: Programs) -> None:
    async with programs.delivering():
        incident = programs.opened("i1")
        await programs.put(HOT, incident)
        await asyncio.sleep(5)
        silence = Silence(
            id="s1",
            cluster="lab",
            matchers=parse_matchers('node="gpu-a04"'),
            starts_at=START,
            ends_at=START + timedelta(hours=1),
            by="U1",
            comment="fans ordered",
        )
        worse = add_alert(incident, FAN, GROUPING, programs.clock.now())
        await programs.put(silence, FAN, worse)
        await sleep(timedelta(minutes=50))
        assert programs.states == ["firing"]
        await sleep(timedelta(minutes=20))
        assert programs.states == ["firing", "firing"]
