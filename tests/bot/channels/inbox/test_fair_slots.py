"""Slots are fair between people: one person's slow reads hold up nobody else, no confirmation, and no evaluation."""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from bot.channels.fair_slots import MOST, SHARE
from bot.channels.inbox import Inbox, InboxDependencies
from bot.channels.interaction import Interaction
from bot.live_cluster import LiveCluster
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import QueryResult, Seen
from collectors.sources.cluster_sources import ClusterSources
from commands.command_catalogue import CATALOGUE
from commands.core.command import Answer
from commands.core.matching.interpretation import changes_something
from commands.core.request import Request
from tests.bot.channels.inbox.test_inbox import INTERACTION, Answers, EveryoneIsDana, FixedClock
from tests.support.memory_store import MemoryStore
from tests.support.routing import QuietSource, a_router

SLOW = PromQLQuery(expr="slow")
RULE = PromQLQuery(expr="up == 0")
PEOPLE = 12
NEVER = timedelta(hours=1)


@dataclass
class EightSlots(QuietSource):
    """A source that runs eight queries at once, as Prometheus is asked to; the slow ones do not end."""

    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(8))
    never: asyncio.Event = field(default_factory=asyncio.Event)

    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult:
        async with self.slots:
            if query == SLOW:
                await self.never.wait()
            return Seen(source=self.name, at=at, samples=())


@dataclass
class Bench:
    """An inbox before one cluster. `begun` are the lines that began, `handled` those that ended."""

    store: MemoryStore = field(default_factory=MemoryStore)
    source: EightSlots = field(default_factory=EightSlots)
    begun: list[str] = field(default_factory=list)
    handled: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.cluster = LiveCluster(
            "prod-a", clock=FixedClock(), sources=ClusterSources([self.source], deadline=NEVER)
        )
        self.inbox = Inbox(
            InboxDependencies(
                people=EveryoneIsDana(),  # type: ignore[arg-type]
                store=self.store,
                take=self.take,
                responder=Answers(),
                clock=FixedClock(),
                changes=partial(changes_something, catalogue=CATALOGUE),
            )
        )
        self.store.listen(self.inbox.wake)

    async def take(self, request: Request) -> Answer | None:
        self.begun.append(request.id)
        if request.line == "gpu idle":
            await self.cluster.query(SLOW, at=request.at)
        self.handled.append(request.id)
        return None

    async def send(self, user: str, *lines: str) -> None:
        async with self.store.unit() as unit:
            for number, line in enumerate(lines):
                one = replace(INTERACTION, id=f"{user}/{line}/{number}", user_id=user, text=line, files=())
                await unit.rows(Interaction).put(one)


async def until(bench: Bench, *ids: str) -> None:
    async with asyncio.timeout(20):
        while not set(ids) <= set(bench.handled):  # noqa: ASYNC110 - a handled line sends no signal
            await asyncio.sleep(0)


async def test_anothers_help_and_every_evaluation_go_before_48_slow_reads() -> None:
    bench = Bench()
    router = a_router(bench.source, deadline=NEVER)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(bench.inbox.run())
        await bench.send("U_ANA", *["gpu idle"] * 48)
        while len(bench.begun) < SHARE:  # noqa: ASYNC110
            await asyncio.sleep(0)
        await bench.send("U_BO", "help")
        await until(bench, "U_BO/help/0")
        async with asyncio.timeout(20):
            for _ in range(3):
                found = await router.query_all({"r1": RULE, "r2": RULE}, at=INTERACTION.at)
                assert all(isinstance(one, Seen) for one in found.values())
        assert len(bench.begun) == SHARE + 1
        assert bench.handled == ["U_BO/help/0"]
        running.cancel()


async def test_a_confirmation_goes_before_the_senders_own_slow_reads() -> None:
    bench = Bench()
    async with asyncio.TaskGroup() as group:
        running = group.create_task(bench.inbox.run())
        await bench.send("U_ANA", *["gpu idle"] * 48, "plan confirm p1 --hash 0")
        await until(bench, "U_ANA/plan confirm p1 --hash 0/48")
        running.cancel()


async def test_many_people_with_slow_reads_hold_up_nobody_and_no_evaluation() -> None:
    bench = Bench()
    router = a_router(bench.source, deadline=NEVER)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(bench.inbox.run())
        for number in range(PEOPLE):
            await bench.send(f"U{number}", *["gpu idle"] * 8)
        while len(bench.begun) < PEOPLE:  # noqa: ASYNC110
            await asyncio.sleep(0)
        await bench.send("U_BO", "help")
        await until(bench, "U_BO/help/0")
        async with asyncio.timeout(20):
            assert isinstance((await router.query_all({"r": RULE}, at=INTERACTION.at))["r"], Seen)
        assert {id.partition("/")[0] for id in bench.begun} >= {f"U{number}" for number in range(PEOPLE)}
        assert len(bench.begun) <= MOST
        running.cancel()


async def test_a_slot_that_is_free_again_is_used_by_the_next_line_of_the_person() -> None:
    bench = Bench()
    async with asyncio.TaskGroup() as group:
        running = group.create_task(bench.inbox.run())
        lines = [f"node show gpu-{number}" for number in range(3 * SHARE)]
        await bench.send("U_ANA", *lines)
        await until(bench, *(f"U_ANA/{line}/{number}" for number, line in enumerate(lines)))
        assert bench.begun == [f"U_ANA/{line}/{number}" for number, line in enumerate(lines)]
        running.cancel()
