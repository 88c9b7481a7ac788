"""Following a launched training: what one look says, and what it does not conclude from not seeing."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from bot.jobs.launch_watcher import LaunchWatcher
from bot.live_cluster import LiveCluster
from bot.store.memory_store import MemoryStore
from collectors.cluster.inventory import Inventory
from collectors.facts.redaction import MARK, Redactor
from collectors.trainings.training import Rank, Training, TrainingState
from commands.models import Launch
from tests.support.alerting import CLUSTER, NOON
from tests.support.objects import inventory

CLOCK = SimpleNamespace(now=lambda: NOON)


LAUNCH = Launch(
    id="l1",
    cluster=CLUSTER,
    training="vision/detr",
    by="U1",
    by_name="ana",
    at=NOON - timedelta(hours=1),
    channel="C1",
)


class Half(LiveCluster):
    """Nodes and pods are seen, Jobs are not."""

    def look(self) -> Inventory:
        return inventory(missing={"jobs": "last seen 2 min ago"})


async def test_a_training_whose_jobs_cannot_be_seen_is_not_called_stopped() -> None:
    store = MemoryStore()
    launch = replace(LAUNCH, reported_state="running")
    async with store.unit() as unit:
        await unit.launches.put(launch)
    follower = LaunchWatcher(
        store, {CLUSTER: Half(CLUSTER, clock=CLOCK)}, CLOCK, redact=Redactor(), channel="C1"
    )

    await follower.look()

    async with store.unit() as unit:
        assert await unit.launches.get("l1") == launch
        assert await unit.replies.find() == []


KEY = [
    "-----BEGIN PRIVATE KEY-----",
    *["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj"] * 40,
    "-----END PRIVATE KEY-----",
]


class PodLogs:
    """A pod that printed a private key, and then fell."""

    async def logs(self, _namespace: str, _pod: str, *, tail: int, byte_limit: int) -> str:
        lines = ["begin", *KEY, "password=hunter2", "Traceback: boom " + "x" * 5_000]
        return "\n".join(lines[-tail:])[:byte_limit] + "\n"


async def test_no_line_of_a_private_key_is_among_the_last_words() -> None:
    failed = Training(
        id="vision/detr",
        kind="Job",
        namespace="vision",
        name="detr",
        state=TrainingState.FAILED,
        reason="BackoffLimitExceeded",
        failures=(Rank(role="worker", index=0, pod="detr-0"),),
    )
    store = MemoryStore()
    async with store.unit() as unit:
        await unit.launches.put(LAUNCH)
    cluster: Any = SimpleNamespace(trainings=lambda: (failed,), pod_logs=PodLogs(), logs=None)

    await LaunchWatcher(store, {CLUSTER: cluster}, CLOCK, redact=Redactor(), channel="C1").look()

    async with store.unit() as unit:
        told = await unit.launches.get("l1")
    assert told is not None
    assert told.last_lines[:-1] == ("begin", MARK, f"password={MARK}")
    assert told.last_lines[-1].startswith("Traceback: boom xxx")
    assert len(told.last_lines[-1]) == 1_000
