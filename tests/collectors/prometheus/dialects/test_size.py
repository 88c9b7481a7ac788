"""A dialect at the size of a large cluster: few queries, two series of each target, and the event loop goes on."""

import asyncio
import threading
from datetime import datetime
from typing import Any

import pytest

from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import QueryResult, Sample, Seen
from collectors.facts.topology import NodeFacts, Topology
from collectors.sources.prometheus.dialects import choosing, family_look
from collectors.sources.prometheus.dialects.node_names import NodeNames
from collectors.sources.prometheus.dialects.query_rewriting import AUXILIARY
from collectors.sources.prometheus.dialects.watching import Dialects, Prepared
from tests.support.alerting import CLUSTER, NOON

NODES, GPUS = 1_000, 8
HOT = PromQLQuery(expr="DCGM_FI_DEV_GPU_TEMP > 90", presence="DCGM_FI_DEV_GPU_TEMP", of_pack=True)


class LargePrometheus:
    """Answers as one whose dcgm-exporters name their nodes by `node`; `asked` are its queries."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, query: str, at: datetime) -> QueryResult:
        self.asked.append(query)
        found: list[tuple[dict[str, str], float]]
        if query.startswith("count by (cluster"):  # whose series they are
            found = [({}, NODES * GPUS)]
        elif "node_uname_info" in query:  # whose addresses they are
            found = []
        elif query.startswith("count by (__name__)"):
            found = [({"__name__": "DCGM_FI_DEV_GPU_TEMP"}, NODES * GPUS)]
        elif "label_replace(count by (job)" in query:
            found = [({"job": "dcgm", f"{AUXILIARY}label": "node"}, 1)]
        else:
            each = 2 if query.startswith("topk by (job, instance) (2, ") else GPUS
            found = [(self._series(node, gpu), 60) for node in range(NODES) for gpu in range(each)]
        samples = tuple(Sample(labels=Labels(labels), value=value) for labels, value in found)
        return Seen(source="prometheus", at=at, samples=samples)

    @staticmethod
    def _series(node: int, gpu: int) -> dict[str, str]:
        own = {"job": "dcgm", "instance": f"10.0.{node}:9400", "node": f"gpu-{node}"}
        return {**own, "gpu": str(gpu), "UUID": f"GPU-{node}-{gpu}"}


TOPOLOGY = Topology(
    cluster=CLUSTER, nodes={f"gpu-{number}": NodeFacts(name=f"gpu-{number}") for number in range(NODES)}
)


def the_topology() -> Topology:
    """Return the cluster's topology. Only the event loop may ask for it."""
    assert threading.current_thread() is threading.main_thread()
    return TOPOLOGY


async def test_a_large_dialect_takes_few_queries_and_does_not_hold_up_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop, goes_on, choose, looked_at = asyncio.get_running_loop(), threading.Event(), choosing.choose, []

    def waits_for_the_loop(family: Any, series: Any, **more: Any) -> Any:
        looked_at.append(len(series))
        loop.call_soon_threadsafe(goes_on.set)
        assert goes_on.wait(30)
        return choose(family, series, **more)

    monkeypatch.setattr(family_look, "choose", waits_for_the_loop)
    ask = LargePrometheus()
    dialects = Dialects(ask)
    dialects.follow(NodeNames(the_topology))
    many = await asyncio.gather(*(dialects.prepare(HOT, at=NOON) for _ in range(20)))
    assert all(isinstance(one, Prepared) and f"{AUXILIARY}Hostname" in one.expr for one in many)
    assert looked_at == [2 * NODES]
    assert len(ask.asked) == 6, ask.asked


async def test_a_small_dialect_is_chosen_in_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.NODES", 50)
    dialects = Dialects(LargePrometheus())
    dialects.follow(NodeNames(the_topology))
    assert isinstance(await dialects.prepare(HOT, at=NOON), Prepared)
