"""A node that changes and an object that fails are evaluated soon; heartbeats and storms make few more cycles."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from alerts.rules import Rule
from bot.evaluation.evaluator import Evaluator
from bot.evaluation.failure_alarm import CHANGE_PACE, SLOWEST_PACE
from bot.live_cluster import SNAPSHOT_EVERY
from collectors.check import CheckInput, ClusterCheck, SourceState
from collectors.cluster.cache import ObjectChange
from collectors.cluster.devices import ResourceClaim
from collectors.cluster.objects import PersistentVolumeClaim, Pod
from collectors.facts.queries import CheckQuery
from collectors.facts.results import Blind, Sample
from tests.support.alerting import CLUSTER, NOON, a_rule, a_topology
from tests.support.changing_cache import ChangingCache
from tests.support.evaluation import an_evaluator
from tests.support.objects import inventory, node, pod, read
from tests.support.routing import a_router

pytestmark = pytest.mark.looptime


@dataclass(slots=True)
class Changing(ChangingCache):
    """A cluster's cache, and when a check looked at it."""

    looks: list[float] = field(default_factory=list)

    def status(self) -> tuple[()]:
        return ()

    async def synced(self, timeout: timedelta) -> None:
        """It is at once."""

    def change(self, kind: str, before: object, after: object) -> None:
        self.tell(ObjectChange(kind=kind, key="n1", before=before, after=after, at=NOON))

    def check(self, _inputs: CheckInput, _parameters: object) -> Sequence[Sample]:
        self.looks.append(asyncio.get_running_loop().time())
        return ()


def evaluator(
    cache: Changing,
    rule: Rule,
    *,
    needs: frozenset[str] = frozenset({"inventory"}),
    kinds: frozenset[str] = frozenset(),
) -> Evaluator:
    loop = asyncio.get_running_loop()
    clock: Any = SimpleNamespace(
        now=lambda: NOON + timedelta(seconds=loop.time()), elapsed=lambda: timedelta(seconds=loop.time())
    )
    cluster: Any = SimpleNamespace(
        sources=None, name=CLUSTER, cache=cache, pod_logs=None, topology=a_topology, synced=cache.synced
    )

    def inputs(at: Any, sources: tuple[SourceState, ...]) -> CheckInput:
        blind = Blind(source="kubernetes", at=at, reason="not needed")
        return CheckInput(at=at, inventory=inventory(), trainings=blind, configs=blind, sources=sources)

    check = ClusterCheck(name="looks", summary="", needs=needs, run=cache.check, kinds=kinds)
    router = a_router(checks={"looks": check}, check_input=inputs)
    return an_evaluator(cluster, rule, router, clock)


async def test_other_rules_are_evaluated_while_changed_nodes_wait_for_the_pace(looptime: Any) -> None:
    cache = Changing()
    rule = replace(a_rule("Looks"), query=CheckQuery(name="looks"), interval=timedelta(seconds=1))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(evaluator(cache, rule).run())
        for _ in range(200):
            cache.change("nodes", None, node("n1"))
            await asyncio.sleep(0.1)
        assert max(later - before for before, later in pairwise(cache.looks)) < 1.01
        task.cancel()


async def test_checks_are_evaluated_after_a_node_changed(looptime: Any) -> None:
    cache = Changing()
    rule = replace(a_rule("Looks"), query=CheckQuery(name="looks"), interval=timedelta(hours=1))
    ready, not_ready = node("n1"), node("n1", status={"conditions": [{"type": "Ready", "status": "Unknown"}]})
    async with asyncio.TaskGroup() as group:
        task = group.create_task(evaluator(cache, rule).run())
        await asyncio.sleep(60)
        assert len(cache.looks) == 1
        cache.change("pods", None, pod("p1"))
        cache.change("nodes", ready, node("n1", resourceVersion="2"))  # a heartbeat
        await asyncio.sleep(60)
        assert len(cache.looks) == 1
        cache.change("nodes", ready, not_ready)
        await asyncio.sleep(SNAPSHOT_EVERY + 0.1)
        assert len(cache.looks) == 2
        await asyncio.sleep(60)
        for _ in range(100):
            cache.change("nodes", ready, not_ready)
            await asyncio.sleep(0.1)
        assert len(cache.looks) <= 2 + 1 + 10 / CHANGE_PACE
        task.cancel()
    assert cache.listeners == []


HOURLY = replace(a_rule("Looks"), query=CheckQuery(name="looks"), interval=timedelta(hours=1))
CLAIM = {"metadata": {"name": "data", "namespace": "vision"}}
DEVICES = {
    "allocation": {"devices": {"results": []}},
    "reservedFor": [{"resource": "pods", "name": "detr-0"}],
}


def a_pod(**status: Any) -> Pod:
    return pod("detr-0", status=status)


def in_a_container(**state: Any) -> Pod:
    return a_pod(phase="Running", containerStatuses=[{"name": "main", **state}])


RUNNING = in_a_container(state={"running": {}})
FAILING = {
    "refused by its node": a_pod(phase="Failed", reason="UnexpectedAdmissionError"),
    "its image cannot be pulled": in_a_container(state={"waiting": {"reason": "ErrImagePull"}}),
    "its container ends with an error": in_a_container(state={"terminated": {"exitCode": 1}}),
    "it ended with an error before": in_a_container(
        state={"running": {}}, lastState={"terminated": {"exitCode": 137}}
    ),
}
SOUND = {
    "it is new": (None, a_pod(phase="Pending")),
    "it starts": (a_pod(phase="Pending"), in_a_container(state={"waiting": {"reason": "ContainerCreating"}})),
    "it runs": (a_pod(phase="Pending"), RUNNING),
    "it ends well": (RUNNING, in_a_container(state={"terminated": {"exitCode": 0}})),
    "it is deleted": (RUNNING, None),
    "it goes on failing": (
        FAILING["it ended with an error before"],
        FAILING["its container ends with an error"],
    ),
}


async def looks_after(*changes: tuple[str, object, object], **check: Any) -> int:
    """Return how often an hourly check looked within the bound after these changes, in a quiet cluster."""
    cache = Changing()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(evaluator(cache, HOURLY, **check).run())
        await asyncio.sleep(60)
        begun = len(cache.looks)
        for change in changes:
            cache.change(*change)
        await asyncio.sleep(SNAPSHOT_EVERY + 0.1)
        task.cancel()
    return len(cache.looks) - begun


@pytest.mark.parametrize("after", FAILING.values(), ids=FAILING)
@pytest.mark.parametrize("before", [None, RUNNING], ids=["new", "it ran"])
async def test_a_pod_that_fails_is_evaluated_as_soon_as_a_node(
    looptime: Any, before: Pod | None, after: Pod
) -> None:
    assert await looks_after(("pods", before, after)) == 1


@pytest.mark.parametrize(("before", "after"), SOUND.values(), ids=SOUND)
async def test_what_else_happens_to_a_pod_waits_for_the_interval(
    looptime: Any, before: Pod | None, after: Pod | None
) -> None:
    assert await looks_after(("pods", before, after)) == 0


async def test_a_claim_that_loses_its_volume_is_evaluated_by_the_checks_that_read_claims(
    looptime: Any,
) -> None:
    bound, lost = (
        read(PersistentVolumeClaim, {**CLAIM, "status": {"phase": phase}}) for phase in ("Bound", "Lost")
    )
    change = ("persistentvolumeclaims", bound, lost)
    assert await looks_after(change, kinds=frozenset({"persistentvolumeclaims"})) == 1
    assert await looks_after(change) == 0


@pytest.mark.parametrize("status", [{}, None], ids=["loses its devices", "is deleted"])
async def test_a_device_claim_in_use_that_is_lost_is_evaluated(
    looptime: Any, status: dict[str, Any] | None
) -> None:
    held = read(ResourceClaim, {**CLAIM, "status": DEVICES})
    after = None if status is None else read(ResourceClaim, {**CLAIM, "status": status})
    assert await looks_after(("resourceclaims", held, after)) == 1
    unused = read(ResourceClaim, {**CLAIM, "status": {**DEVICES, "reservedFor": []}})
    assert await looks_after(("resourceclaims", unused, after)) == 0


async def test_a_check_without_the_cluster_is_not_brought_forward(looptime: Any) -> None:
    assert await looks_after(("nodes", None, node("n1")), needs=frozenset({"sources"})) == 0


async def test_a_storm_of_ten_thousand_failing_pods_makes_few_cycles(looptime: Any) -> None:
    cache, minutes = Changing(), 20
    failed = FAILING["refused by its node"]
    async with asyncio.TaskGroup() as group:
        task = group.create_task(evaluator(cache, HOURLY).run())
        await asyncio.sleep(60)
        begun = len(cache.looks)
        for _ in range(10_000):
            cache.change("pods", RUNNING, failed)
            await asyncio.sleep(60 * minutes / 10_000)
        storm = cache.looks[begun:]
        assert storm[0] <= 60 + SNAPSHOT_EVERY + 0.1
        assert len(storm) <= 5 + 60 * minutes / SLOWEST_PACE
        now = asyncio.get_running_loop().time()
        cache.change("nodes", None, node("n1"))
        await asyncio.sleep(SNAPSHOT_EVERY + 0.1)
        assert cache.looks[-1] >= now, "a node does not wait for a storm of pods"
        await asyncio.sleep(5 * SLOWEST_PACE)
        now = asyncio.get_running_loop().time()
        cache.change("pods", RUNNING, failed)
        await asyncio.sleep(SNAPSHOT_EVERY + 0.1)
        assert cache.looks[-1] >= now, "after the storm the first one is seen at once again"
        task.cancel()
