"""The replicas that nodes and names require together."""

import pytest

from collectors.facts.dns_load import DnsSize, advised, by_names, required
from collectors.facts.proportional import read_linear

VIVO = read_linear('{"nodesPerReplica": 10, "min": 1, "max": 50, "preventSinglePointFailure": true}')


@pytest.mark.parametrize(
    ("nodes", "names", "by_node", "recommended"),
    [
        pytest.param(20, 600, 2, 2, id="30 tasks on each node"),
        pytest.param(8, 600, 2, 2, id="75 tasks on each node: two for the single point"),
        pytest.param(8, 640, 2, 3, id="80 tasks on each of 8"),
        pytest.param(20, 1600, 2, 6, id="80 tasks on each of 20"),
        pytest.param(50, 1500, 5, 5, id="30 tasks on each of 50"),
        pytest.param(50, 4000, 5, 14, id="80 tasks on each of 50"),
        pytest.param(100, 20_000, 10, 50, id="at the maximum"),
        pytest.param(1, 0, 1, 1, id="an empty cluster"),
    ],
)
def test_names_require_replicas_too(nodes: int, names: int, by_node: int, recommended: int) -> None:
    size = DnsSize(nodes=nodes, cores=0, names=names)
    assert VIVO.replicas(nodes=nodes, cores=0) == by_node
    assert advised(VIVO, size) == recommended
    assert (required(VIVO, size) > VIVO.max) == (recommended == 50)


def test_the_minimum_that_is_set_is_not_lowered() -> None:
    linear = read_linear('{"nodesPerReplica": 10, "min": 7, "max": 50}')
    assert advised(linear, DnsSize(nodes=20, cores=0, names=300)) == 7


def test_the_single_point_rule_comes_after_the_maximum() -> None:
    linear = read_linear('{"nodesPerReplica": 10, "max": 1, "preventSinglePointFailure": true}')
    assert advised(linear, DnsSize(nodes=5, cores=0, names=0)) == 2


def test_without_a_value_for_nodes_there_are_300_names_per_replica() -> None:
    assert by_names(read_linear('{"coresPerReplica": 256}'), 301) == 2


def test_the_smallest_accepted_value_does_not_overflow() -> None:
    assert by_names(read_linear('{"nodesPerReplica": 1e-9, "max": 5}'), 100_000) > 5
