"""The rules of the GPU pack on a real Prometheus with every dialect of dcgm-exporter."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

import pytest

from collectors.cluster.objects import Pod
from collectors.facts.labels import Labels
from collectors.facts.results import QueryResult, Seen
from collectors.facts.subjects import Subject
from collectors.gpu_activity import ENGINE, MEASURE, UTIL, Activity, activity, classify_pods
from tests.real.fixtures import StartPrometheus
from tests.support.dialect_rules import END, seen, source_of, subjects, summaries
from tests.support.gpu_dialects import TEN, GpuNode, recorded
from tests.support.objects import gpus, inventory, pod

HALF = timedelta(minutes=30)


def labels_of(found: QueryResult) -> list[Labels]:
    assert isinstance(found, Seen)
    return [sample.labels for sample in found.samples]


def a_holder(of: GpuNode) -> Pod:
    namespace, name = of.holder[:2]
    resource = "nvidia.com/mig-1g.10gb" if of.is_mig else "nvidia.com/gpu"
    start = f"{END - 2 * HALF:%Y-%m-%dT%H:%M:%SZ}"
    return pod(
        name,
        namespace,
        spec={"nodeName": of.name, "containers": [gpus(1, resource)]},
        status={"phase": "Running", "startTime": start},
    )


def by_node(found: Sequence[Subject]) -> Mapping[str, Subject]:
    assert len({one.node for one in found}) == len(found)
    return {one.node: one for one in found}


@pytest.mark.parametrize("job", ["dcgm-exporter", "dcgm-{node}"], ids=["one job", "a job each"])
async def test_each_dialect_names_its_node_its_gpu_and_its_pod(
    start_prometheus: StartPrometheus, job: str
) -> None:
    server = start_prometheus(samples=recorded(TEN, end=END, job=job))
    everything = {one.name for one in TEN}
    async with source_of(server.url) as source:
        hot = await seen(source, "GPUTemperatureHigh")
        found = by_node(subjects("GPUTemperatureHigh", hot))
        assert set(found) == everything
        assert {(one.gpu, one.uuid) for one in found.values()} == {("0", one.uuid(0)) for one in TEN}
        assert {one.node: one.training or one.pod for one in found.values()} == dict.fromkeys(found, "")
        for name in everything:
            assert any(f"GPU 0 on {name} is hot" in one for one in summaries("GPUTemperatureHigh", hot))

        xid = await seen(source, "GPUXIDChanged")
        assert set(by_node(subjects("GPUXIDChanged", xid))) == everything

        answer = await source.query(activity(HALF), at=END)
        for metric, nodes in ((UTIL, [one for one in TEN if not one.is_mig]), (ENGINE, TEN)):
            for part in ("most", "seen"):
                held = {
                    (one["exported_namespace"], one["exported_pod"])
                    for one in labels_of(answer)
                    if one[MEASURE] == f"{metric}/{part}"
                }
                assert held == {one.holder[:2] for one in nodes}
        assert isinstance(answer, Seen)
        found_idle = classify_pods(inventory(*map(a_holder, TEN)), answer, now=END, after=HALF).pods
        assert {key: one.activity for key, one in found_idle.items()} == {
            one.holder[:2]: Activity.IDLE for one in TEN
        }


async def test_presence_names_the_same_gpus(start_prometheus: StartPrometheus) -> None:
    server = start_prometheus(samples=recorded(TEN, end=END))
    async with source_of(server.url) as source:
        found = await seen(source, "GPUTemperatureHigh")
    assert found.present is not None
    assert {one["Hostname"] for one in found.present} == {one.name for one in TEN}
    assert len(found.present) == 2 * len(TEN)
