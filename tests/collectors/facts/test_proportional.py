"""The DNS autoscaler's document and its replicas, as in the autoscaler's source and its own tests."""

import json

import pytest

from collectors.facts.proportional import read_config, read_linear, unknown_keys

VIVO = '{"nodesPerReplica": 10, "min": 1, "max": 50, "preventSinglePointFailure": true}'
ADDON = '{"coresPerReplica": 256, "nodesPerReplica": 16, "preventSinglePointFailure": true}'
BOTH = {"coresPerReplica": 2, "nodesPerReplica": 2.5, "min": 1, "max": 100, "preventSinglePointFailure": True}


@pytest.mark.parametrize(
    ("nodes", "replicas"),
    [
        (0, 1), (1, 1), (2, 2), (9, 2), (10, 2), (11, 2), (20, 2), (21, 3),
        (100, 10), (101, 11), (499, 50), (500, 50), (501, 50), (1000, 50),
    ],
)  # fmt: skip
def test_by_nodes_within_the_bounds_and_never_a_single_point(nodes: int, replicas: int) -> None:
    linear = read_linear(VIVO)
    assert linear.replicas(nodes=nodes, cores=nodes * 96) == replicas
    assert (linear.unbounded(nodes=nodes, cores=0) > 50) == (nodes > 500)  # it is at its maximum


@pytest.mark.parametrize(
    ("document", "nodes", "cores", "replicas"),
    [
        pytest.param('{"coresPerReplica": 2, "nodesPerReplica": 1, "max": 100}', 4, 13, 7, id="the README's"),
        pytest.param(ADDON, 1, 4, 1, id="one node"),
        pytest.param(ADDON, 2, 8, 2, id="two nodes"),
        pytest.param(ADDON, 16, 64, 2, id="one replica would do"),
        pytest.param(ADDON, 17, 68, 2, id="by nodes"),
        pytest.param(ADDON, 40, 3840, 15, id="on big servers cores dominate"),
        pytest.param(ADDON, 100, 9600, 38, id="on many big servers, too"),
        pytest.param(VIVO, 40, 3840, 4, id="the same without a value for cores"),
        pytest.param(
            '{"nodesPerReplica": 10, "min": 1, "max": 1, "preventSinglePointFailure": true}', 5, 0, 2,
            id="the single-point rule exceeds max",
        ),
        pytest.param('{"nodesPerReplica": 10, "max": 50}', 2, 0, 1, id="without the single-point rule"),
        pytest.param('{"nodesPerReplica": 10, "min": 5, "max": 50}', 3, 0, 5, id="min"),
        pytest.param('{"coresPerReplica": 64, "min": 5}', 3, 1, 5, id="cores alone, min applies"),
        pytest.param('{"NODESPERREPLICA": 10, "MiN": 3}', 1, 0, 3, id="keys in any case"),
        pytest.param('{"nodesPerReplica": 10, "servicesPerReplica": 1}', 20, 0, 2, id="an unknown key"),
        pytest.param('{"nodesPerReplica": 10, "min": null, "max": 0}', 990, 0, 99, id="no bounds"),
    ],
)  # fmt: skip
def test_by_nodes_and_cores(document: str, nodes: int, cores: int, replicas: int) -> None:
    assert read_linear(document).replicas(nodes=nodes, cores=cores) == replicas


@pytest.mark.parametrize(
    ("cores", "nodes", "replicas"),
    [
        (0, 0, 1), (1, 2, 2), (2, 3, 2), (3, 4, 2), (4, 4, 2), (6, 4, 3), (6, 5, 3), (8, 5, 4), (8, 15, 6),
        (8, 16, 7), (19, 21, 10), (23, 20, 12), (26, 38, 16), (30, 49, 20), (40, 20, 20),
    ],
)  # fmt: skip
def test_a_fraction_of_a_node_per_replica(cores: int, nodes: int, replicas: int) -> None:
    assert read_linear(json.dumps(BOTH)).replicas(nodes=nodes, cores=cores) == replicas


def test_a_value_that_is_absent_is_one_replica_and_not_min() -> None:
    """So `min` binds through the value that is there, and a node rule of 1 replica does not add to it."""
    linear = read_linear('{"coresPerReplica": 8, "min": 4, "preventSinglePointFailure": true}')
    assert linear.replicas(nodes=1, cores=1) == 4
    alone = read_linear('{"nodesPerReplica": 8, "min": 1, "max": 3}')
    assert alone.replicas(nodes=1, cores=10_000) == 1


@pytest.mark.parametrize(
    "text",
    [
        '{"max": 1e400, "nodesPerReplica": 10}',
        '{"min": Infinity, "nodesPerReplica": 10}',
        '{"max": 1' + "0" * 400 + ', "nodesPerReplica": 10}',
        '{"max": ' + "9" * 5000 + ', "nodesPerReplica": 10}',
        '{"nodesPerReplica": NaN}',
        '{"nodesPerReplica": Infinity}',
        '{"nodesPerReplica": 1e-320}',
        '{"nodesPerReplica": ' + "9" * 400 + "}",
        '{"nodesPerReplica": -1}',
        '{"nodesPerReplica": -20}',
        '{"nodesPerReplica": 10, "coresPerReplica": -1}',
        '{"nodesPerReplica": 10, "min": -1}',
        '{"min": 5, "max": 2, "nodesPerReplica": 1}',
        '{"servicesPerReplica": 300}',
        '{"nodesPerReplica": "10"}',
        '{"nodesPerReplica": 10, "min": 1.5}',
        '{"nodesPerReplica": 10, "max": 2e1}',
        '{"nodesPerReplica": 10, "max": true}',
        '{"nodesPerReplica": 10, "preventSinglePointFailure": "false"}',
        '{"nodesPerReplica": 10, "includeUnschedulableNodes": 1}',
        "[" * 100_000,
        "[1]",
        "null",
        "{}",
        "no",
        "",
    ],
    ids=lambda text: text[:60],
)
def test_an_invalid_document_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read_linear(text)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        pytest.param({}, "it has none", id="nothing"),
        pytest.param({"linear": VIVO, "note": "x"}, "it has linear, note", id="two keys"),
        pytest.param({"ladder": "{}"}, "it has the key `ladder`, not `linear`", id="another mode"),
        pytest.param({"linear": "{"}, "not JSON", id="a broken document"),
    ],
)
def test_a_config_that_the_autoscaler_rejects(content: dict[str, str], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_config(content)


def test_a_config_has_one_document() -> None:
    assert read_config({"linear": VIVO}) == read_linear(VIVO)


def test_keys_without_effect_are_named() -> None:
    assert unknown_keys(VIVO) == ()
    assert unknown_keys('{"servicesPerReplica": 300, "NodesPerReplica": 5}') == ("servicesPerReplica",)


def test_the_smallest_accepted_value_does_not_overflow() -> None:
    linear = read_linear('{"nodesPerReplica": 1e-9, "max": 5}')

    assert linear.unbounded(nodes=5_000, cores=0) > 5
