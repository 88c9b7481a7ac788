"""Following a launched training: what one look says, and what it does not conclude from not seeing."""

from datetime import timedelta
from types import SimpleNamespace

from bot.following import Follower
from bot.sites import ClusterSite
from bot.store.memory import MemoryStore
from collectors.facts.redaction import Redactor
from collectors.mirror.inventory import Inventory
from commands.rows import Launch
from tests.support.alerting import CLUSTER, NOON
from tests.support.objects import inventory

CLOCK = SimpleNamespace(now=lambda: NOON)


class Half(ClusterSite):
    """Nodes and pods are seen, Jobs are not."""

    def look(self) -> Inventory:
        return inventory(missing={"jobs": "last seen 2 min ago"})


async def test_a_training_whose_jobs_cannot_be_seen_is_not_called_stopped() -> None:
    store = MemoryStore()
    launch = Launch(
        id="l1",
        cluster=CLUSTER,
        training="vision/detr",
        by="U1",
        by_name="ana",
        at=NOON - timedelta(hours=1),
        channel="C1",
        told="running",
    )
    async with store.unit() as unit:
        await unit.launches.put(launch)
    follower = Follower(store, {CLUSTER: Half(CLUSTER, clock=CLOCK)}, CLOCK, redact=Redactor(), channel="C1")

    await follower.look()

    async with store.unit() as unit:
        assert await unit.launches.get("l1") == launch
        assert await unit.lines.find() == []
