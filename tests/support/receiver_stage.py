"""A receiver with a recorder, whose store can fail, in virtual time."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from alerts.alert import Alert
from alerts.received import ReceivedAlert
from alerts.routing import CardRouting
from alerts.store import Unit
from bot.evaluation.recorder import IncidentRecorder
from bot.receiving.receiver import Inlet, Receiver
from collectors.facts.labels import Labels
from demo.side_tasks import beside
from tests.support.alerting import CLUSTER, NOON, a_topology, minutes
from tests.support.memory_store import MemoryStore

LASTS = minutes(5)


class FailingStore(MemoryStore):
    """A store that can fail before a commit, and counts the units that changed something."""

    def __init__(self) -> None:
        super().__init__()
        self.failures = 0
        self.commits = 0
        self.listen(lambda _changed: self._count())

    def _count(self) -> None:
        self.commits += 1

    @asynccontextmanager
    async def unit(self) -> AsyncGenerator[Unit]:
        async with super().unit() as unit:
            yield unit
            if self.failures:
                self.failures -= 1
                raise OSError("disk full")


@dataclass
class LoopTime:
    """A clock that follows the loop's virtual time."""

    ahead: timedelta = timedelta()

    def now(self) -> datetime:
        return NOON + self.ahead + timedelta(seconds=asyncio.get_running_loop().time())

    def elapsed(self) -> timedelta:
        return timedelta(seconds=asyncio.get_running_loop().time())


@dataclass
class Stage:
    """A receiver with a recorder. `process()` makes them again, as a restart does."""

    store: FailingStore = field(default_factory=FailingStore)
    clock: LoopTime = field(default_factory=LoopTime)
    clusters: tuple[str, ...] = (CLUSTER,)
    receiver: Receiver = field(init=False)

    def __post_init__(self) -> None:
        self.process()

    def process(self) -> None:
        self.receiver = self.a_receiver()

    def a_receiver(self, *, default: str = "") -> Receiver:
        inlets = {
            name: Inlet(
                recorder=IncidentRecorder(name, self.store, CardRouting(default="C1")),
                topology=a_topology,
                rules=dict,
            )
            for name in self.clusters
        }
        return Receiver(inlets, self.store, self.clock, lasts=LASTS, default=default)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the receiver, and start it again when it fails, as the supervisor does."""

        async def keep() -> None:
            while True:
                with suppress(OSError):
                    await self.receiver.run()
                await asyncio.sleep(0.5)

        async with beside(keep()):
            yield

    async def rows(self, row: type[Any]) -> list[Any]:
        async with self.store.read() as snapshot:
            return list(await snapshot.rows(row).find())

    async def ends(self) -> dict[str, str]:
        """Return the state of each alert, and why it ended, by node."""
        return {
            one.labels["node"]: f"{one.life.state} {one.ended_reason}".strip()
            for one in await self.rows(Alert)
        }


def sent(
    at: datetime,
    node: str = "gpu-a01",
    *,
    lasts: timedelta = LASTS,
    began: datetime | None = None,
    **labels: str,
) -> ReceivedAlert:
    return ReceivedAlert(
        labels=Labels({"alertname": "LinkDown", "severity": "critical", "node": node, **labels}),
        annotations={"summary": f"A link of {node} is down."},
        starts_at=began or at,
        ends_at=at + lasts,
    )
