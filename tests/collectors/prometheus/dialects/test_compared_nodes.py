"""Nodes by their names within a query that compares the series of several exporters."""

from collectors.facts.labels import Labels
from collectors.sources.prometheus.dialects.choosing import choose
from collectors.sources.prometheus.dialects.families import DCGM, KUBE_STATE_METRICS, NODE_EXPORTER
from collectors.sources.prometheus.dialects.node_names import NodeNames
from collectors.sources.prometheus.dialects.query_rewriting import MetricForms, MetricName, rewritten
from collectors.sources.prometheus.dialects.same_nodes import compares_nodes, with_names
from tests.support.gpu_dialects import TEN, topology_of

NODES = NodeNames(topology_of)
BY_NAME = {one.name: one for one in TEN}


def asked(name: str) -> str:
    """Return a selector in the dialect of a node, with the names of nodes."""
    series = [Labels(BY_NAME[name].labels(0, job="dcgm"))]
    groups = with_names(choose(DCGM, series, nodes=NODES).groups, DCGM, series, NODES)
    form = MetricForms(names=(MetricName(name="DCGM_X"),), groups=groups)
    return rewritten("avg by (Hostname) (DCGM_X)", lambda _: form)


def test_an_address_gets_the_name_of_its_node() -> None:
    assert asked("gpu-iph").endswith(r', "Hostname", "gpu-iph", "Hostname", "10\\.0\\.0\\.4:9400"))')
    assert asked("gpu-fqdn").endswith(
        r', "Hostname", "gpu-fqdn", "Hostname", "gpu\\-fqdn\\.ml\\.example\\.com"))'
    )


def test_the_name_of_a_node_stays() -> None:
    assert asked("gpu-op") == "avg by (Hostname) (DCGM_X)"


def test_only_exporters_of_nodes_are_compared() -> None:
    assert compares_nodes((DCGM, NODE_EXPORTER))
    assert not compares_nodes((DCGM, KUBE_STATE_METRICS))
