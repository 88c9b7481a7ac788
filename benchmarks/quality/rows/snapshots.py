"""Recorded clusters whose GPUs are shared: how many more pods fit, and whether those that are asked for do."""

import csv
import gzip
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.quality.measure import Measure
from benchmarks.row import Goal, Peer, Row
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import NODES, PODS
from collectors.cluster.object_store import ObjectStore
from collectors.cluster.objects import Node, Pod
from collectors.facts.clock import SystemClock
from commands.training.placement import UNBOUNDED, NodeCapacity, TaskRequest, node_capacities, place

SHARED = "tencent.com/vcuda-core"  # a hundred of it are a GPU
MODEL = "gpu-model"  # the label of the nodes


class Question(msgspec.Struct):
    """How many more of these pods fit (`max_replicas`), and whether `ask_replicas` do."""

    num_gpu: int
    gpu_milli: int  # of each GPU
    cpu_milli: int
    memory_mib: int
    model: str | None
    ask_replicas: int
    max_replicas: int
    fits: bool

    def task(self, count: int) -> TaskRequest:
        amounts = {
            "cpu": self.cpu_milli / 1000,
            "memory": self.memory_mib * 2.0**20,
            SHARED: self.num_gpu * self.gpu_milli / 10,
        }
        selector = {MODEL: self.model} if self.model else {}
        return TaskRequest(role="worker", count=count, amounts=amounts, node_selector=selector)


class Score:
    """How many questions were answered rightly, and how often room was promised that there is not."""

    def __init__(self) -> None:
        self.exact = self.promised = 0

    def add(self, question: Question, capacities: Sequence[NodeCapacity]) -> None:
        most = place([question.task(UNBOUNDED)], capacities).fitting
        is_promised = place([question.task(question.ask_replicas)], capacities).is_whole
        self.exact += most == question.max_replicas
        self.promised += is_promised and not question.fits


async def run(file: Path) -> tuple[Row, ...]:
    ours, added_up, impossible, asked = Score(), Score(), 0, 0
    for folder in sorted(file.parents[1].glob("snap*")):
        capacities = node_capacities(_inventory(folder), ("cpu", "memory", SHARED))
        together = [replace(capacity, shares={}) for capacity in capacities]
        for question in msgspec.json.decode(
            (folder / "queries.json").read_bytes(), type=tuple[Question, ...]
        ):
            asked += 1
            impossible += not question.fits
            ours.add(question, capacities)
            added_up.add(question, together)
    baseline = "what is free added up for each node"
    return (
        Row(
            id="capacity/snapshots",
            measure=f"of {asked} questions, replicas that fit exact",
            value=ours.exact,
            peer=Peer(name=baseline, value=added_up.exact),
            goal=Goal(limit=asked, of_value=True, at_least=True),
        ),
        Row(
            id="capacity/snapshots",
            measure=f"of {impossible} launches that do not fit, promised",
            value=ours.promised,
            peer=Peer(name=baseline, value=added_up.promised),
            goal=Goal(limit=0, of_value=True),
        ),
    )


def _inventory(folder: Path) -> Inventory:
    """Return the cluster as its API would show it."""
    now = SystemClock().now()
    nodes, pods = ObjectStore(NODES), ObjectStore(PODS)
    for row in _rows(folder / "nodes.csv.gz"):
        node = msgspec.convert(_node(row), Node)
        nodes.put(node.key, node)
    for row in _rows(folder / "pods.csv.gz"):
        pod = msgspec.convert(_pod(row), Pod)
        pods.put(pod.key, pod)
    return Inventory(
        as_of=now, snapshots={NODES.name: nodes.snapshot(now), PODS.name: pods.snapshot(now)}, missing={}
    )


def _node(row: dict[str, str]) -> dict[str, Any]:
    amounts = {
        "cpu": f"{row['cpu_milli']}m",
        "memory": f"{row['memory_mib']}Mi",
        "pods": "10000",
        SHARED: str(100 * int(row["gpu"])),
    }
    return {
        "metadata": {"name": row["name"], "labels": {MODEL: row["model"]}},
        "spec": {"unschedulable": row["unschedulable"] == "True"},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": row["ready"]}],
        },
    }


def _pod(row: dict[str, str]) -> dict[str, Any]:
    requests = {"cpu": f"{row['cpu_milli']}m", "memory": f"{row['memory_mib']}Mi"}
    if taken := int(row["num_gpu"]) * int(row["gpu_milli"]) / 10:
        requests[SHARED] = f"{taken:g}"
    indexes = row["gpu_index"].replace("-", ",")
    return {
        "metadata": {
            "name": row["name"],
            "namespace": "recorded",
            "annotations": {"tencent.com/predicate-gpu-idx-0": indexes} if indexes else {},
        },
        "spec": {
            "nodeName": row["node"],
            "containers": [{"name": "main", "resources": {"requests": requests}}],
        },
        "status": {"phase": row["phase"]},
    }


def _rows(file: Path) -> Iterator[dict[str, str]]:
    with gzip.open(file, "rt", encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)


MEASURE = Measure(
    id="capacity/snapshots",
    title="what fits into clusters with shared GPUs",
    file="capacity/snap0/queries.json",
    run=run,
)
