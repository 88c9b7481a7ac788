"""Faults that the Kubernetes API alone tells: of nodes, and of what waits for GPUs."""

import re
from datetime import datetime
from typing import Any

import pytest

from alerts.incidents.incident import Incident
from collectors.cluster.objects import Job, KubernetesObject
from demo.parts.prometheus import PrometheusServer
from tests.recorded.table import EPISODES, MINUTE
from tests.support.objects import gpus, owned, pod, read
from tests.support.recorded_cluster import Fault, FaultKind, RecordedCluster
from tests.support.recorded_loop import RuleLoop, rule_loop
from tests.support.recorded_objects import neighbour, objects_at
from tests.support.scrape_styles import STYLES

CLUSTER = EPISODES[f"quiet, {STYLES[0].name}"].cluster
BEGINS = CLUSTER.start + 10 * MINUTE
ENDS = BEGINS + 14 * MINUTE
OF_OBJECTS = ("KubeNodeNotReady", "GPUUnhealthy", "TrainingPending", "GPUWorkloadPending", "KubeNodePressure")


async def the_card(loop: RuleLoop) -> tuple[Incident, str]:
    (incident,) = await loop.incidents()
    ((_, card),) = (await loop.shown()).items()
    return incident, card


def with_fault(kind: FaultKind, node: str) -> RecordedCluster:
    fault = Fault(kind=kind, nodes=frozenset({node}), begins=BEGINS, ends=ENDS)
    return RecordedCluster(nodes=CLUSTER.nodes, start=CLUSTER.start, end=CLUSTER.end, faults=(fault,))


@pytest.mark.parametrize(
    ("kind", "within"),
    [(FaultKind.NOT_READY, 5), (FaultKind.ALLOCATABLE, 4)],
    ids=lambda one: str(one),
)
async def test_a_node_that_the_api_calls_unwell(
    recordings: PrometheusServer, kind: FaultKind, within: int
) -> None:
    """A StatefulSet and a Job run on it."""

    def objects(at: datetime) -> list[KubernetesObject]:
        return objects_at(with_fault(kind, "gpu-std"), at, *neighbour("gpu-std", owner="ana"))

    async with rule_loop(recordings.url, objects, start=BEGINS - MINUTE, rules=OF_OBJECTS) as loop:
        await loop.run(BEGINS + within * MINUTE)
        incident, card = await the_card(loop)
        assert incident.subject.node == "gpu-std"
        assert "gpu-std" in card.splitlines()[0]
        assert "StatefulSet team-gpu-std/train-gpu-std" in card
        assert "vision/next-gpu-std" in card
        assert {"mei", "ana"} <= set(re.findall(r"\w+", card)), "both owners"
        assert "node cordon gpu-std" in card
        await loop.run(ENDS + 3 * MINUTE)
        assert not await loop.incidents(is_open=True)


def waiting(kind: str, at: datetime) -> list[KubernetesObject]:
    """Return a workload whose pod finds no node."""
    if not BEGINS <= at < ENDS:
        return []
    since = f"{BEGINS:%Y-%m-%dT%H:%M:%SZ}"
    words = "0/10 nodes are available: 10 Insufficient nvidia.com/gpu."
    no_room = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": words}
    meta: dict[str, Any] = {"annotations": {"yardmaster.io/owner": "ana"}, "creationTimestamp": since}
    owner = {"ownerReferences": owned(kind, "llama")} if kind else {}
    status = {"phase": "Pending", "conditions": [no_room]}
    found: list[KubernetesObject] = [
        pod("llama-0", "infer", spec={"containers": [gpus(4)]}, status=status, **meta, **owner)
    ]
    if kind == "Job":
        spec = {"parallelism": 1, "completions": 1, "template": {"spec": {"containers": [gpus(4)]}}}
        tree = {"name": "llama", "namespace": "infer", **meta}
        found.append(read(Job, {"metadata": tree, "spec": spec, "status": {"active": 1}}))
    return found


@pytest.mark.parametrize(
    "kind", ["Job", "StatefulSet", "RayCluster", ""], ids=lambda one: one or "a bare pod"
)
async def test_what_waits_for_gpus(recordings: PrometheusServer, kind: str) -> None:
    def objects(at: datetime) -> list[KubernetesObject]:
        return objects_at(CLUSTER, at, *waiting(kind, at))

    async with rule_loop(recordings.url, objects, start=BEGINS - MINUTE, rules=OF_OBJECTS) as loop:
        await loop.run(BEGINS + 12 * MINUTE)
        _, card = await the_card(loop)
        assert "infer/llama" in card.splitlines()[0]
        assert "gpu idle" in card
        assert "ana" in card
        await loop.run(ENDS + MINUTE)
        assert not await loop.incidents(is_open=True)
