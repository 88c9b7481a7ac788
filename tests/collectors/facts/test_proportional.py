"""The DNS autoscaler's document: valid ones are parsed, any other raises ValueError with a reason."""

import pytest

from collectors.facts.proportional import read_linear, services_rule


def test_nodes_and_cores_require_replicas_within_the_bounds() -> None:
    linear = read_linear('{"coresPerReplica": 256, "nodesPerReplica": 16, "min": 2, "max": 5}')

    assert linear.replicas(nodes=100, cores=600) == 5
    assert linear.unbounded(nodes=100, cores=600) == 7
    assert linear.replicas(nodes=1, cores=4) == 2


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
        '{"min": 5, "max": 2, "nodesPerReplica": 1}',
        "[" * 100_000,
        "{}",
        "no",
    ],
    ids=lambda text: text[:30],
)
def test_an_invalid_document_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read_linear(text)


def test_the_smallest_accepted_value_does_not_overflow() -> None:
    linear = read_linear('{"nodesPerReplica": 1e-9, "max": 5}')

    assert linear.unbounded(nodes=5_000, cores=0) > 5
    assert services_rule(linear, services=100_000) > 5
