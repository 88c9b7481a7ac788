"""Dialects that are not known, that the settings name, and that change while alerts stand, on a real Prometheus."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from alerts.rendering import RuleRenderer
from collectors.facts.findings import FindingLevel
from collectors.facts.labels import AlertKey
from collectors.facts.results import Blind, QueryResult, Seen
from collectors.facts.topology import Topology
from collectors.gpu_activity import activity
from collectors.sources.prometheus.dialects.families import Role
from tests.real.fixtures import StartPrometheus
from tests.support.dialect_rules import END, RULES, queried, seen, source_of, subjects
from tests.support.gpu_dialects import HONOURED, STEP, TEN, GpuNode, recorded, topology_of

STD, OP, *_ = TEN
CHANGED = END - timedelta(minutes=12)
HOUR = timedelta(hours=1)
NAMELESS = GpuNode(name="gpu-std", number=1, named={"instance": "172.16.0.1:9400"})
OLD_NAMES = {
    "DCGM_FI_DEV_GPU_TEMP": "dcgm_gpu_temp",
    "DCGM_FI_DEV_GPU_UTIL": "DCGM_FI_DEV_GPU_UTIL_RATIO",
    "DCGM_FI_DEV_XID_ERRORS": "dcgm_xid_errors",
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": "unused",
}


def holders(found: QueryResult) -> set[tuple[str, str]]:
    """Return the pods whose use of GPUs is known."""
    assert isinstance(found, Seen), found
    return {(one.labels["exported_namespace"], one.labels["exported_pod"]) for one in found.samples}


def scraped(lasted: timedelta) -> Iterator[str]:
    yield "# TYPE up gauge"
    for number in range(lasted // STEP, -1, -1):
        yield f"up 1 {(END - number * STEP).timestamp():.3f}"


def capacities() -> Iterator[str]:
    """kube-state-metrics on gpu-op, whose labels are not honoured; gpu-std loses a GPU 20 minutes before the end."""
    own = 'job="kubernetes-service-endpoints",node="gpu-op",namespace="monitoring",pod="ksm-0"'
    yield "# TYPE kube_node_status_capacity gauge"
    for node in ("gpu-std", "gpu-op"):
        labels = f'{own},exported_node="{node}",resource="nvidia_com_gpu",unit="integer"'
        for number in range(timedelta(minutes=40) // STEP, -1, -1):
            at = END - number * STEP
            count = 1 if node == "gpu-std" and at > END - timedelta(minutes=20) else 2
            yield f"kube_node_status_capacity{{{labels}}} {count} {at.timestamp():.3f}"


async def test_an_unclear_dialect_is_blind_and_what_the_settings_name_is_not(
    start_prometheus: StartPrometheus,
) -> None:
    samples = (*scraped(HOUR), *capacities(), *recorded((NAMELESS,), end=END))
    server = start_prometheus(samples=samples)
    async with source_of(server.url) as source:
        hot = await queried(source, "GPUTemperatureHigh")
        assert isinstance(hot, Blind)
        assert 'names a node, only instance="172.16.0.1:9400"' in hot.reason
        missing = await seen(source, "GPUMissing")
        assert [one.node for one in subjects("GPUMissing", missing)] == ["gpu-std"]
        found = await source.diagnose({name: rule.query for name, rule in RULES.items()}, at=END)
        (broken,) = (one for one in found if one.level is FindingLevel.BROKEN and "names a node" in one.text)
        assert broken.text.startswith("GPU")
        assert "clusters[].prometheus.labels" in broken.fix
        assert "kube-state-metrics: node from `exported_node`" in {one.text[:45] for one in found}
    labels = {"dcgm-exporter": {Role.NODE: ("modelName",)}}
    async with source_of(server.url, labels=labels) as source:
        hot = await queried(source, "GPUTemperatureHigh")
        assert isinstance(hot, Seen)
        assert [one["Hostname"] for one in (sample.labels for sample in hot.samples)] == ["NVIDIA H100"]


async def test_other_names_of_metrics(start_prometheus: StartPrometheus) -> None:
    server = start_prometheus(samples=recorded((STD, OP), end=END, names=OLD_NAMES))
    async with source_of(server.url) as source:
        for rule in ("GPUTemperatureHigh", "GPUXIDChanged"):
            assert {one.node for one in subjects(rule, await seen(source, rule))} == {"gpu-std", "gpu-op"}
        assert holders(await source.query(activity(HOUR / 2), at=END)) == {STD.holder[:2], OP.holder[:2]}


async def test_alerts_go_on_when_the_dialect_changes(start_prometheus: StartPrometheus) -> None:
    """The exporters are replaced, and then have other labels for the node and the pod."""
    before = GpuNode(name="gpu-hn", number=8, named={"Hostname": "nvidia-dcgm-exporter-hnx8q"})
    after = replace(before, named={"node": "gpu-hn"}, pod_labels=HONOURED, is_honoured=True)
    lines: dict[str, list[str]] = {}
    for node, end, lasted in ((before, CHANGED, HOUR), (after, END, timedelta(minutes=11))):
        for line in recorded((node,), end=end, lasted=lasted):
            name = line.split()[2] if line.startswith("#") else line.partition("{")[0]
            lines.setdefault(name, []).append(line)
    samples = [line for found in lines.values() for line in dict.fromkeys(found)]
    server = start_prometheus(samples=samples)
    now = CHANGED

    def topology() -> Topology:
        """The exporter's pod is gone when it was replaced."""
        whole = topology_of((before,))
        if now <= CHANGED:
            return whole
        pods = {key: pod for key, pod in whole.pods.items() if key[1] != before.exporter}
        return replace(whole, pods=pods)

    def keys(rule: str, found: Seen) -> set[AlertKey]:
        renderer = RuleRenderer(topology, clean=lambda text: text)
        return {renderer.labels(RULES[rule], sample).key for sample in found.samples}

    async with source_of(server.url, topology) as source:
        rule = "GPUTemperatureHigh"
        first = await seen(source, rule, at=CHANGED)
        assert len(first.samples) == 1
        for minutes in (1.5, 2, 4, 7, 11):
            now = CHANGED + timedelta(minutes=minutes)
            found = await seen(source, rule, at=now)
            assert keys(rule, found) == keys(rule, first), f"{rule} after {minutes} min"
            assert found.present is not None
            assert {one["Hostname"] for one in found.present} == {"gpu-hn"}
            assert holders(await source.query(activity(HOUR / 2), at=now)) == {before.holder[:2]}
