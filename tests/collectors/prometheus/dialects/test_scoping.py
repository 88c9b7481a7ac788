"""Stores for several clusters, and stores with copies of series: which of them count."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pytest

from collectors.facts.labels import Labels
from collectors.facts.promql.tree import LabelMatcher
from collectors.facts.results import Blind, Sample
from collectors.sources.prometheus.dialects.node_names import NodeNames
from collectors.sources.prometheus.dialects.query_rewriting import (
    LabelSource,
    MetricForms,
    MetricName,
    SeriesGroup,
    rewritten,
)
from collectors.sources.prometheus.dialects.scoping import Scope, given_scope, scope_from_evidence
from collectors.sources.prometheus.dialects.splitting import of_every_target, splitting
from tests.real.fixtures import StartPrometheus
from tests.support.dialect_rules import END, queried, seen, source_of, subjects
from tests.support.gpu_dialects import STEP, TEN, GpuNode, recorded, topology_of

NODES = NodeNames(topology_of)
STD, OP, *_ = TEN


def state(cluster: str, **nodes: str) -> list[Sample]:
    """Return kube_node_info of a cluster's nodes, with their addresses."""
    return [
        Sample(
            labels=Labels(
                {
                    "__name__": "kube_node_info",
                    "instance": "10.244.0.3:8080",
                    "node": node.replace("_", "-"),
                    **({"internal_ip": address} if address else {}),
                    **({"cluster": cluster} if cluster else {}),
                }
            ),
            value=1,
        )
        for node, address in nodes.items()
    ]


OURS = state("eu", gpu_std="10.0.0.1", gpu_op="10.0.0.2")
ELSEWHERE = state("us", gpu_x="10.9.0.1", gpu_y="10.9.0.2")
SAME_NAMES = state("us", gpu_std="10.9.0.1", gpu_op="10.9.0.2")
NO_ADDRESSES = [*state("us", gpu_std="", gpu_op=""), *state("eu", gpu_std="", gpu_op="")]


@pytest.mark.parametrize(
    ("found", "left_out"),
    [
        ([*OURS, *ELSEWHERE], 'cluster!~"us"'),
        ([*OURS, *SAME_NAMES], 'cluster!~"us"'),
        ([*OURS, *state("us.1", gpu_z="10.9.0.1")], 'cluster!~"us\\\\.1"'),
        ([*OURS, *state("eu-b", gpu_ipp="10.0.0.3")], ""),
        ([*OURS, *state("", gpu_ipp="10.0.0.3")], ""),
        ([*state("", gpu_std="10.0.0.1"), *ELSEWHERE], 'cluster!~"us"'),
        ([*state("lab", gpu_std=""), *state("us", gpu_std="")], 'cluster!~"us"'),
        (ELSEWHERE, ""),
    ],
    ids=[
        "other names",
        "the same names, other addresses",
        "a value with a dot",
        "two values for parts of one cluster",
        "only some series have the label",
        "a label on the others alone",
        "the same names, and one is that of the settings",
        "none of ours",
    ],
)
def test_series_of_other_clusters_are_left_out(found: Sequence[Sample], left_out: str) -> None:
    scope = scope_from_evidence("cluster", found, NODES)
    assert (",".join(map(str, scope.matchers)), scope.problem) == (left_out, "")


def test_clusters_that_nothing_tells_apart_are_a_problem() -> None:
    scope = scope_from_evidence("cluster", NO_ADDRESSES, NODES)
    assert scope.problem == (
        'series with cluster="eu" and cluster="us" name the same nodes: set prometheus.matchers'
    )


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("sum(rate(a_total[5m]))", 'sum(rate(a_total{cluster="eu"}[5m]))'),
        ('absent(b{x="1"}) or c offset 1h', 'absent(b{x="1", cluster="eu"}) or c{cluster="eu"} offset 1h'),
    ],
)
def test_each_selector_asks_for_the_cluster(expr: str, expected: str) -> None:
    assert given_scope({"cluster": "eu"}).of(expr) == expected
    assert Scope().of(expr) == expr


def test_many_nodes_of_other_names_are_asked_for_the_cluster_too() -> None:
    """A call for each of them stands around the selector: more than a reader of PromQL follows."""
    names = tuple((f"gpu-{number}", f"10\\.0\\.0\\.{number}:9400") for number in range(160))
    group = SeriesGroup(labels=(LabelSource(label="Hostname", names=("instance",), named=names),))
    form = MetricForms(names=(MetricName(name="x"),), groups=(group,))
    scope = Scope(matchers=given_scope({"cluster": "eu"}).matchers, copies=("replica",))
    found = rewritten("avg by (Hostname) (x) > y", lambda metric: form if metric == "x" else None, scope.of)
    assert found.count('max without (replica) (x{cluster="eu"})') == 1
    assert found.endswith('> max without (replica) (y{cluster="eu"})')


def test_labels_of_utf_8_are_quoted() -> None:
    assert given_scope({"k8s.cluster.name": "eu"}).of("a") == 'a{"k8s.cluster.name"="eu"}'


def test_copies_are_counted_once() -> None:
    scope = Scope(copies=("replica",), matchers=(LabelMatcher("cluster", "!~", '"us"'),))
    assert scope.of("sum(rate(a[5m])) > 0") == 'sum(max without (replica) (rate(a{cluster!~"us"}[5m]))) > 0'


def store(*parts: tuple[GpuNode, Mapping[str, str]]) -> Iterator[str]:
    """Return the samples of these nodes, each with more labels, as a store for all of them has them."""
    lines: dict[str, list[str]] = {}
    for node, more in parts:
        for line in recorded((replace(node, named={**node.named, **more}),), end=END):
            name = line.split()[2] if line.startswith("#") else line.partition("{")[0]
            lines.setdefault(name, []).append(line)
        shown = ",".join(f'{name}="{value}"' for name, value in more.items())
        for number in range(20, -1, -1):
            at = f"{(END - number * STEP).timestamp():.3f}"
            up = f'up{{job="dcgm-exporter",instance="{node.exporter_address}:9400",{shown}}} 1 {at}'
            info = f'kube_node_info{{node="{node.name}",internal_ip="{node.host}",{shown}}} 1 {at}'
            lines.setdefault("up", []).append(up)
            lines.setdefault("kube_node_info", []).append(info)
    for found in lines.values():
        yield from dict.fromkeys(found)


async def test_a_store_for_two_clusters_with_the_same_nodes(start_prometheus: StartPrometheus) -> None:
    other = GpuNode(name="gpu-std", number=77, named={"Hostname": "gpu-std"})
    eu, us = {"cluster": "eu"}, {"cluster": "us"}
    server = start_prometheus(samples=store((STD, eu), (OP, eu), (other, us)))
    async with source_of(server.url) as source:
        for rule in ("GPUTemperatureHigh", "GPUXIDChanged"):
            found = subjects(rule, await seen(source, rule))
            assert {one.uuid for one in found} == {STD.uuid(0), OP.uuid(0)}
        assert 'only series with cluster!~"us"' in source.dialects.described()[0]
    async with source_of(server.url, matchers={"cluster": "us"}) as source:
        found = subjects("GPUTemperatureHigh", await seen(source, "GPUTemperatureHigh"))
        assert {one.uuid for one in found} == {other.uuid(0)}


async def test_copies_of_two_prometheus(start_prometheus: StartPrometheus) -> None:
    one, other = {"prometheus_replica": "a"}, {"prometheus_replica": "b"}
    server = start_prometheus(samples=store((STD, one), (STD, other)))
    async with source_of(server.url) as source:
        (hot,) = subjects("GPUTemperatureHigh", await seen(source, "GPUTemperatureHigh"))
        assert hot.uuid == STD.uuid(0)
        assert "prometheus_replica" in source.dialects.described()[0]


async def test_an_environment_by_a_label_of_no_list_is_left_out(start_prometheus: StartPrometheus) -> None:
    other = GpuNode(name="gpu-std", number=77, named={"Hostname": "gpu-std"})
    prod, stage = {"env": "prod"}, {"env": "stage"}
    server = start_prometheus(samples=store((STD, prod), (OP, prod), (other, stage)))
    async with source_of(server.url, lambda: topology_of((STD, OP))) as source:
        found = subjects("GPUTemperatureHigh", await seen(source, "GPUTemperatureHigh"))
        assert {one.uuid for one in found} == {STD.uuid(0), OP.uuid(0)}
        assert 'only series with env!~"stage"' in source.dialects.described()[0]


@pytest.mark.parametrize(("label", "one", "two"), [("cluster", "eu", "us"), ("env", "prod", "stage")])
async def test_clusters_and_environments_that_nothing_tells_apart_are_blind_until_it_is_set(
    start_prometheus: StartPrometheus, label: str, one: str, two: str
) -> None:
    other = replace(STD, number=77, named={"Hostname": "gpu-std"})
    samples = store((STD, {label: one}), (other, {label: two}))
    server = start_prometheus(samples=(each for each in samples if "kube_node_info" not in each))
    unknown = replace(topology_of((STD,)), node_of_address={})
    async with source_of(server.url, lambda: unknown) as source:
        found = await queried(source, "GPUTemperatureHigh")
        assert isinstance(found, Blind)
        assert "set prometheus.matchers" in found.reason
        assert f'{label}="{two}"' in found.reason
    async with source_of(server.url, lambda: unknown, matchers={label: one}) as source:
        (hot,) = subjects("GPUTemperatureHigh", await seen(source, "GPUTemperatureHigh"))
        assert hot.uuid == STD.uuid(0)


async def test_copies_by_a_label_of_no_list_are_counted_once(start_prometheus: StartPrometheus) -> None:
    server = start_prometheus(samples=store((STD, {"ha": "a"}), (STD, {"ha": "b"})))
    async with source_of(server.url, lambda: topology_of((STD,))) as source:
        (hot,) = subjects("GPUTemperatureHigh", await seen(source, "GPUTemperatureHigh"))
        assert hot.uuid == STD.uuid(0)
        assert "series that differ by `ha` alone are counted once" in source.dialects.described()


def info(node: str, **labels: str) -> Sample:
    return Sample(
        labels=Labels({"__name__": "kube_node_info", "job": "ksm", "node": node, **labels}), value=1
    )


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (
            [info("a", env="prod"), info("a", env="stage"), info("b", env="prod"), info("b", env="stage")],
            ("env",),
        ),
        ([info("a", env="prod"), info("a")], ("env",)),
        ([info("a", env="prod"), info("b", env="stage")], ()),
        ([info("a", env="p", replica="0"), info("a", env="q", replica="1")], ()),
        ([info("a", instance="1"), info("a", instance="2")], ()),
    ],
    ids=[
        "two environments",
        "a label on one of them",
        "nodes of one environment each",
        "copies that are known",
        "two targets",
    ],
)
def test_labels_that_split_the_series_of_nodes(found: Sequence[Sample], expected: tuple[str, ...]) -> None:
    assert splitting(found) == expected


def test_what_one_exporter_gives_its_own_is_no_environment() -> None:
    targets = [
        ({"job": "ksm", "pod_template_hash": "1", "env": "prod"}, 1),
        ({"job": "ksm", "pod_template_hash": "2", "env": "stage"}, 1),
        ({"job": "node", "env": "prod"}, 9),
        ({"job": "node", "env": "stage"}, 9),
    ]
    found = [Sample(labels=Labels(labels), value=value) for labels, value in targets]

    assert of_every_target(("env", "pod_template_hash"), found) == ("env",)
