"""A receiver that dies at any await on its store stores each alert once."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from alerts.cards.posted import PostedCard
from alerts.incidents.incident import Incident
from alerts.store import Unit
from bot.receiving.receiver import BusyError, Receiver
from tests.support.alerting import minutes
from tests.support.receiver_stage import FailingStore, Stage, sent

pytestmark = pytest.mark.looptime


class Killed(BaseException):
    """The process is gone."""


def killed_at(number: int) -> Callable[[], None]:
    """Return what is called at each await on the store, and raises at one of them."""
    counted = [0]

    def look() -> None:
        counted[0] += 1
        if counted[0] == number:
            raise Killed

    return look


class MortalStore(FailingStore):
    """A store at each await of which the process may die."""

    look: Callable[[], None] = staticmethod(lambda: None)

    @asynccontextmanager
    async def unit(self) -> AsyncGenerator[Unit]:
        self.look()
        async with super().unit() as unit:
            yield _MortalUnit(unit, self)
            self.look()
        self.look()  # committed, and nobody knows it


@dataclass
class _MortalUnit:
    unit: Unit
    store: MortalStore

    def rows(self, row: type[Any]) -> Any:
        return _MortalRows(self.unit.rows(row), self.store)

    async def next_number(self, of: str, count: int = 1) -> int:
        self.store.look()
        return await self.unit.next_number(of, count)


@dataclass
class _MortalRows:
    rows: Any
    store: MortalStore

    def __getattr__(self, name: str) -> Any:
        async def call(*given: Any, **named: Any) -> Any:
            self.store.look()
            return await getattr(self.rows, name)(*given, **named)

        return call


async def test_no_await_on_the_store_is_a_place_to_die_at() -> None:
    for number in range(1, 200):
        store = MortalStore()
        stage = Stage(store=store)
        at = stage.clock.now()
        alerts = [
            sent(at),
            sent(at, "gpu-b01"),
            sent(at, lasts=timedelta(), began=at - minutes(9), node="gpu-c01"),
        ]
        look = killed_at(number)
        store.look = look
        was_taken = False
        with suppress(BaseExceptionGroup, Killed):
            async with asyncio.TaskGroup() as group:
                task = group.create_task(_dying(stage.receiver))
                try:
                    await stage.receiver.take(alerts)
                    was_taken = True
                except BusyError:
                    pass
                task.cancel()
        store.look = lambda: None
        stage.process()
        async with stage.running():
            if not was_taken:
                await stage.receiver.take(alerts)
            ends = await stage.ends()
            assert ends == {"gpu-a01": "firing", "gpu-b01": "firing", "gpu-c01": "resolved"}, number
            assert len(await stage.rows(Incident)) == len(await stage.rows(PostedCard)) == 3, number
        if was_taken:
            return
    raise AssertionError("there are more awaits than were tried")


async def _dying(receiver: Receiver) -> None:
    """Run until the process dies. Its end is expected."""
    with suppress(Killed):
        await receiver.run()
