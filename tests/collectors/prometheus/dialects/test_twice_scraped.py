"""Exporters that two scrape jobs scrape: what tells the copies apart, and queries in which they count once."""

from dataclasses import replace

from collectors.facts.labels import Labels
from collectors.sources.prometheus.dialects.choosing import Dialect, choose
from collectors.sources.prometheus.dialects.families import DCGM, NODE_EXPORTER, TARGETS, Family
from collectors.sources.prometheus.dialects.node_names import NodeNames
from collectors.sources.prometheus.dialects.query_rewriting import MetricForms, MetricName, rewritten
from collectors.sources.prometheus.dialects.same_nodes import with_names
from tests.support.gpu_dialects import TEN, topology_of

NODES = NodeNames(topology_of)
TWO = TEN[:2]


def by_jobs(**more: str) -> list[Labels]:
    """Return series of two nodes in two jobs; `more` are labels in the second, with `{name}` and `{host}`."""
    first = [
        Labels({"__name__": "node_load1", "job": "node-exporter", "instance": f"{one.host}:9100"})
        for one in TWO
    ]
    second = [
        series.with_(
            job="kubernetes-pods",
            **{name: text.format(name=one.name, host=one.host) for name, text in more.items()},
        )
        for one, series in zip(TWO, first, strict=True)
    ]
    return [*first, *second]


def chosen(series: list[Labels], family: Family = NODE_EXPORTER) -> Dialect:
    return choose(family, series, nodes=NODES)


def test_the_same_address_in_two_jobs() -> None:
    found = chosen(by_jobs(pod="exporter-{name}"))

    assert found.copies.labels == ("job", "pod")
    assert not found.copies.has_addresses
    assert found.copies.of_nodes(found.groups, NODE_EXPORTER) == found.groups


def test_another_address_in_each_job_becomes_the_node() -> None:
    series = by_jobs(instance="{name}:9100")
    found = chosen(series)

    assert (found.copies.labels, found.copies.has_addresses) == (("job",), True)
    groups = found.copies.of_nodes(found.groups, NODE_EXPORTER)
    (group,) = with_names(groups, NODE_EXPORTER, series, NODES)
    names = {one.name for one in TWO}
    assert {one.label: {node for node, _ in one.named} for one in group.labels} == {
        "instance": names,
        "node": names,
    }


def test_jobs_of_other_nodes_are_not_copies() -> None:
    series = by_jobs()
    assert chosen([series[0], series[3]]).copies.labels == ()


def test_up_is_of_each_target() -> None:
    series = [one.with_(__name__="up") for one in by_jobs()]
    assert chosen(series, TARGETS).copies.labels == ()


def test_two_gpus_of_a_node_in_two_jobs_are_not_copies() -> None:
    series = [
        Labels({**TWO[0].labels(gpu, job=job), "__name__": "DCGM_FI_DEV_GPU_TEMP"})
        for gpu, job in ((0, "one"), (1, "two"))
    ]
    assert chosen(series, DCGM).copies.labels == ()
    again = [*series, series[0].with_(job="two", pod="another")]
    assert chosen(again, DCGM).copies.labels == ("job", "pod")


def test_a_selector_counts_copies_once() -> None:
    form = MetricForms(names=(MetricName(name="node_load1"),), copies=("job", "pod"))
    expr = "sum by (instance) (rate(node_load1[5m])) or absent(node_load1) or node_load1 offset 1h"

    assert rewritten(expr, lambda _: form) == (
        "sum by (instance) (max without (job, pod) (rate(node_load1[5m])))"
        " or absent(max without (job, pod) (node_load1))"
        " or max without (job, pod) (node_load1 offset 1h)"
    )
    assert form.is_plain("node_load1") is False
    assert replace(form, copies=()).is_plain("node_load1") is True
