"""Addresses that the cluster does not know, from what exporters say of their own hosts."""

from collections.abc import Mapping

import pytest

from collectors.facts.labels import Labels
from collectors.facts.results import Sample
from collectors.sources.prometheus.dialects.node_names import NodeNames, learned
from tests.support.gpu_dialects import topology_of

STD, OP = "gpu-std", "gpu-op"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([("198.51.100.1:9100", STD)], {"198.51.100.1": STD}),
        ([("198.51.100.1:9100", "GPU-STD.example.com")], {"198.51.100.1": STD}),
        ([("[2001:db8::1]:9100", STD)], {"2001:db8::1": STD}),
        ([("10.0.0.1:9100", OP)], {}),
        ([("localhost:9100", STD), ("localhost:9100", OP)], {}),
        ([("198.51.100.1:9100", "storage-1")], {}),
        ([("198.51.100.1:9100", STD), ("198.51.100.2:9100", STD)], {}),
        ([("198.51.100.1:9100", STD), ("198.51.100.1:10250", STD)], {"198.51.100.1": STD}),
    ],
    ids=[
        "an unknown address",
        "a full host name",
        "IPv6",
        "a known address",
        "the same for several hosts",
        "no node",
        "two addresses of one node",
        "two ports",
    ],
)
def test_what_an_address_is(said: list[tuple[str, str]], expected: Mapping[str, str]) -> None:
    found = [
        Sample(labels=Labels({"instance": instance, "nodename": name}), value=1) for instance, name in said
    ]
    assert learned(found, NodeNames(topology_of)) == expected


def test_a_learned_address_leads_to_its_node_from_every_port() -> None:
    nodes = NodeNames(topology_of)
    nodes.learn({"198.51.100.1": STD})
    assert nodes.of("198.51.100.1:9400") == STD
    assert nodes.of("10.0.0.2:9400") == OP
    assert nodes.as_of_now().of("198.51.100.1:9100") == STD
