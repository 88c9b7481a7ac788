"""The checks of a large cluster: none of them works for long without letting others run."""

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from types import FrameType
from typing import Any

import pytest

from benchmarks.large_cluster_objects import PATHS_OF_KINDS as PATHS
from benchmarks.large_cluster_objects import PODS_ON_NODE, lists
from collectors import check_runner
from collectors.check import CheckInput, ClusterCheck, Found, SourceState
from collectors.check_catalogue import CHECKS
from collectors.check_runner import CheckRunner
from collectors.cluster.decoder import KindDecoder
from collectors.cluster.kinds import DEFAULT_KINDS
from collectors.cluster.memo import Memo
from collectors.facts.labels import Labels
from collectors.facts.queries import CheckQuery
from collectors.facts.results import Blind, Sample, Seen
from collectors.trainings.catalogue import read_trainings
from tests.support.objects import inventory, samples_in, snapshot_of

NOW = datetime(2026, 11, 21, 4, tzinfo=UTC)
NODES = 48
CALLS_PER_POD = 5  # about 30 ms with 50,000 pods
DNS = '{"coresPerReplica": 256, "nodesPerReplica": 16, "min": 1, "max": 1}'


@pytest.fixture(scope="module")
def pages() -> dict[str, list[bytes]]:
    return {path: list(lists(kind, NODES).values()) for path, kind in PATHS.items()}


@pytest.fixture
def large(pages: dict[str, list[bytes]]) -> CheckInput:
    """A cluster of which nothing has been derived yet."""
    seen = inventory()
    snapshots = dict(seen.snapshots)
    for kind in DEFAULT_KINDS:
        decode = KindDecoder(kind).page
        found: list[Any] = [one for body in pages.get(kind.path, ()) for one in decode(body).objects]
        snapshots[kind.name] = snapshot_of(kind, found, at=NOW)
    seen = type(seen)(as_of=NOW, snapshots=snapshots)
    metrics = [Sample(labels=Labels({"Hostname": name, "job": "dcgm"}), value=8) for name in seen.nodes]
    return CheckInput(
        at=NOW,
        inventory=seen,
        trainings=read_trainings(seen),
        configs={"kube-system/dns-autoscaler": {"linear": DNS}},
        sources=(),
        metrics=metrics,
    )


class Calls:
    """Counts the calls of functions, those in C too: a measure of work that does not depend on the machine."""

    count = 0

    def note(self, _frame: FrameType, event: str, _arg: object) -> None:
        self.count += event in ("call", "c_call")


def stretches(found: Found) -> Iterator[int]:
    """Yield how many calls a check makes each time before it lets others run."""
    calls = Calls()
    each = iter(found)
    ended = False
    while not ended:
        calls.count = 0
        sys.setprofile(calls.note)
        try:
            ended = next(each, ...) is ...
        finally:
            sys.setprofile(None)
        yield calls.count


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_a_check_lets_others_run_before_it_has_done_much_for_each_pod(
    check: ClusterCheck, large: CheckInput
) -> None:
    samples_in(check.run(large, check.parameters))  # patterns are compiled once
    assert not isinstance(large.inventory, Blind)
    fresh = replace(large, inventory=replace(large.inventory, memo=Memo()))
    longest = max(stretches(check.run(fresh, check.parameters)))
    assert longest <= CALLS_PER_POD * NODES * PODS_ON_NODE, "yield None at each node or pod, or keep an index"


async def test_others_run_between_the_slices_of_a_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_runner, "SLICE", 0.0)
    order: list[str] = []

    def endless(_inputs: CheckInput, _parameters: object) -> Found:
        for number in range(3):
            order.append(f"node {number}")
            yield None
        yield Sample(labels=Labels({"node": "gpu-a01"}), value=1)

    def no_input(at: datetime, sources: tuple[SourceState, ...]) -> CheckInput:
        return CheckInput(at=at, inventory=inventory(), trainings=(), configs={}, sources=sources)

    async def others() -> None:
        for _ in range(3):
            order.append("others")
            await asyncio.sleep(0)

    check = ClusterCheck(name="endless", summary="it takes long", needs=frozenset(), run=endless)
    runner = CheckRunner({"endless": check}, no_input)
    query = CheckQuery(name="endless", parameters={})
    result, _ = await asyncio.gather(runner.run(query, at=NOW, sources=()), others())

    assert isinstance(result, Seen)
    assert [sample.labels for sample in result.samples] == [Labels({"node": "gpu-a01"})]
    assert order == ["node 0", "others", "node 1", "others", "node 2", "others"]
