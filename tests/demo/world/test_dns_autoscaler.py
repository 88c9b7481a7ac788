"""The DNS autoscaler's arithmetic against upstream's documented cases."""

import json

import pytest

from demo.world.kube.linear_scaling import BadParametersError, Linear, counted, linear_of, replicas

DEFAULT = Linear(nodes_per_replica=10, least=1, most=50, prevent_single_point_failure=True)


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        (0, 1),
        (1, 1),
        (2, 2),
        (9, 2),
        (10, 2),
        (11, 2),
        (20, 2),
        (21, 3),
        (100, 10),
        (101, 11),
        (500, 50),
        (1000, 50),
    ],
)
def test_replicas_follow_the_nodes(nodes: int, expected: int) -> None:
    assert replicas(DEFAULT, nodes=nodes, cores=nodes * 16) == expected


@pytest.mark.parametrize(
    ("cores", "nodes", "expected"),
    [
        (0, 0, 1),
        (1, 2, 2),
        (3, 4, 2),
        (6, 4, 3),
        (8, 15, 6),
        (8, 16, 7),
        (23, 20, 12),
        (30, 49, 20),
        (40, 20, 20),
    ],
)
def test_the_larger_of_nodes_and_cores_decides(cores: int, nodes: int, expected: int) -> None:
    both = Linear(
        cores_per_replica=2, nodes_per_replica=2.5, least=1, most=100, prevent_single_point_failure=True
    )
    assert replicas(both, nodes=nodes, cores=cores) == expected


def test_the_single_point_rule_is_applied_after_the_clamp() -> None:
    one = Linear(nodes_per_replica=10, least=1, most=1, prevent_single_point_failure=True)
    assert replicas(one, nodes=5, cores=0) == 2


def test_a_missing_dimension_counts_as_one_replica() -> None:
    assert replicas(Linear(nodes_per_replica=10, least=5, most=50), nodes=3, cores=900) == 5
    assert replicas(Linear(cores_per_replica=2, least=2, most=100), nodes=40, cores=0) == 2


def test_keys_are_case_insensitive_and_unknown_ones_are_ignored() -> None:
    text = json.dumps({"NodesPerReplica": 10, "servicesPerReplica": 300, "MAX": 7})
    assert linear_of(text) == Linear(nodes_per_replica=10, least=1, most=7)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{", id="not JSON"),
        pytest.param("[]", id="not an object"),
        pytest.param("{}", id="no per-replica value"),
        pytest.param('{"servicesPerReplica": 300}', id="only a key that upstream does not know"),
        pytest.param('{"nodesPerReplica": -20}', id="negative"),
        pytest.param('{"nodesPerReplica": 10, "min": 5, "max": 3}', id="max below min"),
        pytest.param('{"nodesPerReplica": "ten"}', id="a word"),
    ],
)
def test_parameters_that_upstream_rejects_are_rejected(text: str) -> None:
    with pytest.raises(BadParametersError):
        linear_of(text)


def test_cordoned_and_not_ready_nodes_count_only_when_configured() -> None:
    def node(*, cordoned: bool = False, ready: str = "True") -> dict[str, object]:
        return {
            "spec": {"unschedulable": cordoned},
            "status": {"conditions": [{"type": "Ready", "status": ready}], "allocatable": {"cpu": "15500m"}},
        }

    nodes = [node(), node(), node(cordoned=True), node(ready="Unknown")]
    assert counted(nodes, DEFAULT) == (2, 31)
    assert counted(nodes, Linear(nodes_per_replica=10, include_unschedulable_nodes=True)) == (4, 62)
