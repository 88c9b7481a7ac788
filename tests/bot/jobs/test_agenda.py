"""The agenda does what is due, reads nothing else, and does nothing twice."""

import asyncio
from collections.abc import Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from bot.jobs.agenda import LONGEST_SLEEP, RETRY_AFTER, Agenda
from bot.jobs.due_commands import DueCommands
from bot.jobs.due_work import DueWork
from commands.core.command import Answer
from commands.core.request import Request
from commands.models import CordonLease, DueCommand
from tests.support.alerting import CLUSTER
from tests.support.chat import START, LoopClock
from tests.support.memory_store import MemoryStore
from tests.support.rows import a_lease

pytestmark = pytest.mark.looptime
SECOND = timedelta(seconds=1)


def a_command(number: int, at: timedelta) -> DueCommand:
    return DueCommand(
        id=f"d{number}", cluster=CLUSTER, at=START + at, line=f"node list {number}", actor="test"
    )


def leased(until: timedelta) -> CordonLease:
    return a_lease(START, until=START + until)


class Stage:
    """An agenda in loop time, and which lines it ran when, in seconds."""

    def __init__(self) -> None:
        self.store = CountingStore()
        self.clock = LoopClock()
        self.ran: list[tuple[str, int]] = []
        self.agenda = self.process()

    async def take(self, request: Request) -> Answer | None:
        self.ran.append((request.line, round(asyncio.get_running_loop().time())))
        return None

    def process(self, *more: DueWork[Any]) -> Agenda:
        agenda = Agenda(self.store, self.clock, (DueCommands(self.store, self.clock, self.take).work, *more))
        self.store.listen(agenda.wake)
        return agenda

    async def put(self, *rows: Any) -> None:
        async with self.store.unit() as unit:
            for row in rows:
                await unit.rows(type(row)).put(row)

    @asynccontextmanager
    async def running(self, agenda: Agenda | None = None) -> Any:
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task((agenda or self.agenda).run())
            yield
            task.cancel()


class CountingStore(MemoryStore):
    """A store that counts the rows which its snapshots return."""

    def __init__(self) -> None:
        super().__init__()
        self.returned = 0

    @asynccontextmanager
    async def read(self) -> Any:
        async with super().read() as snapshot:
            counted = self

            class Counting:
                def rows(self, row: type[Any]) -> Any:
                    rows = snapshot.rows(row)

                    class Rows:
                        async def find(self, **wanted: Any) -> Sequence[Any]:
                            found = await rows.find(**wanted)
                            counted.returned += len(found)
                            return found

                    return Rows()

            yield Counting()


async def test_each_line_is_run_once_at_its_time() -> None:
    stage = Stage()
    await stage.put(a_command(2, 90 * SECOND), a_command(1, 50 * SECOND))
    async with stage.running():
        await asyncio.sleep(60)
        await stage.put(a_command(3, 70 * SECOND))
        await asyncio.sleep(60)
    assert stage.ran == [("node list 1", 50), ("node list 3", 70), ("node list 2", 90)]


async def test_a_line_belongs_to_the_channel_of_what_asked_for_it() -> None:
    stage, seen = Stage(), list[str]()

    async def take(request: Request) -> Answer | None:
        seen.append(request.origin.channel)
        return None

    await stage.put(a_command(1, 5 * SECOND), replace(a_command(2, 9 * SECOND), channel="slack:C_SPEECH"))
    async with stage.running(
        Agenda(stage.store, stage.clock, (DueCommands(stage.store, stage.clock, take).work,))
    ):
        await asyncio.sleep(20)
    assert seen == ["", "slack:C_SPEECH"]


async def test_what_is_not_due_is_not_read() -> None:
    stage = Stage()
    await stage.put(*(a_command(number, timedelta(days=1)) for number in range(1000)))
    await stage.put(a_command(1000, 10 * SECOND))
    async with stage.running():
        await asyncio.sleep(600)
    assert stage.ran == [("node list 1000", 10)]
    assert stage.store.returned <= 3


async def test_a_line_in_the_past_is_run_at_once() -> None:
    stage = Stage()
    async with stage.running():
        await asyncio.sleep(10)
        await stage.put(a_command(1, -timedelta(days=2)))
        await asyncio.sleep(1)
    assert stage.ran == [("node list 1", 10)]


@pytest.mark.parametrize(
    ("by", "due", "runs_at"),
    [
        pytest.param(timedelta(hours=1), 3700 * SECOND, 100, id="forward"),
        pytest.param(timedelta(hours=-1), 100 * SECOND, 3700, id="back"),
    ],
)
async def test_a_clock_step_delays_by_one_sleep_at_most(by: timedelta, due: timedelta, runs_at: int) -> None:
    stage = Stage()
    await stage.put(a_command(1, due))
    async with stage.running():
        await asyncio.sleep(45)
        stage.clock.wrong_by = by
        await asyncio.sleep(4000)
    ((line, at),) = stage.ran
    assert line == "node list 1"
    assert runs_at <= at <= runs_at + LONGEST_SLEEP.total_seconds()


async def test_a_kill_between_the_line_and_its_removal_repeats_the_request_under_its_id() -> None:
    stage = Stage()
    requests: list[str] = []

    async def take(request: Request) -> Answer | None:
        requests.append(request.id)
        if len(requests) == 1:
            raise asyncio.CancelledError
        return None

    await stage.put(a_command(1, timedelta()))
    agenda = Agenda(stage.store, stage.clock, (DueCommands(stage.store, stage.clock, take).work,))
    with suppress(asyncio.CancelledError):
        await agenda.run_due()
    agenda = Agenda(stage.store, stage.clock, (DueCommands(stage.store, stage.clock, take).work,))
    for _ in range(3):
        await agenda.run_due()
    assert requests == [requests[0]] * 2


class Leases:
    """Work of leases that leaves them due, and when it was done, in seconds."""

    def __init__(self, again: timedelta | None, error: Exception | None = None) -> None:
        self.done: list[int] = []
        self.again, self.error = again, error
        self.work = DueWork(name="leases", row=CordonLease, column="remind_at", do=self._do)

    async def _do(self, _lease: CordonLease, _now: datetime) -> timedelta | None:
        self.done.append(round(asyncio.get_running_loop().time()))
        if self.error is not None:
            raise self.error
        return self.again


async def test_a_row_that_stays_due_is_looked_at_when_its_work_says() -> None:
    stage, leases = Stage(), Leases(timedelta(minutes=5))
    await stage.put(leased(10 * SECOND))
    async with stage.running(stage.process(leases.work)):
        await asyncio.sleep(320)
    assert leases.done == [10, 310]


async def test_a_change_of_a_row_that_stays_due_comes_earlier() -> None:
    stage, leases = Stage(), Leases(timedelta(days=3))
    await stage.put(leased(10 * SECOND))
    async with stage.running(stage.process(leases.work)):
        await asyncio.sleep(100)
        await stage.put(replace(leased(10 * SECOND), reason="other"))
        await asyncio.sleep(100)
    assert leases.done == [10, 100]


async def test_work_that_is_done_is_not_due() -> None:
    stage, leases = Stage(), Leases(timedelta(seconds=1))
    await stage.put(replace(leased(10 * SECOND), reminded_at=START))
    async with stage.running(stage.process(leases.work)):
        await asyncio.sleep(100)
    assert leases.done == []


@pytest.mark.parametrize("error", [None, KeyError("a bug")], ids=["changes nothing", "fails"])
async def test_work_that_does_nothing_neither_spins_nor_stops_the_rest(error: Exception | None) -> None:
    stage, leases = Stage(), Leases(None, error)
    await stage.put(leased(10 * SECOND), a_command(1, 20 * SECOND))
    async with stage.running(stage.process(leases.work)):
        await asyncio.sleep(100)
    assert stage.ran == [("node list 1", 20)]
    assert leases.done[:3] == [10, 10 + RETRY_AFTER.seconds, 10 + 2 * RETRY_AFTER.seconds]
    assert len(leases.done) <= 4
