"""Checks of the cluster's DNS: an autoscaler that is at its maximum."""

from collections.abc import Mapping, Sequence
from typing import Any

from collectors.checks.check import CheckInput, ClusterCheck
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import SERVICES
from collectors.cluster.resources import parse_quantity
from collectors.facts.labels import Labels
from collectors.facts.proportional import Linear, read_linear, services_rule
from collectors.facts.results import Blind, Sample


def autoscaler_capped(inputs: CheckInput, parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each linear autoscaler whose `max` is below what nodes or Services require.

    The value is the number of replicas required. `growth`: the factor by which it must exceed `max`.
    """
    assert not isinstance(inputs.inventory, Blind)
    assert not isinstance(inputs.configs, Blind)
    found = []
    for name, config in inputs.configs.items():
        if "linear" not in config:
            continue
        try:
            linear = read_linear(config["linear"])
        except ValueError:
            continue  # an invalid document is for another check to report
        nodes, cores = count_nodes(inputs.inventory, linear)
        by_size = linear.unbounded(nodes=nodes, cores=cores)
        services = sum(one.spec.type != "ExternalName" for one in inputs.inventory.all(SERVICES).values())
        by_services = services_rule(linear, services=services)
        wanted = max(by_size, by_services)
        if linear.max and wanted > linear.max * float(parameters["growth"]):
            driver = f"{services} Services" if by_services > by_size else f"{nodes} nodes"
            text = f"{driver} require {wanted} replicas, `max` is {linear.max}"
            labels = Labels(
                {"component": "dns", "namespace": name.partition("/")[0], "configmap": name.partition("/")[2]}
            )
            found.append(Sample(labels=labels, value=wanted, texts=(text,)))
    return found


def count_nodes(inventory: Inventory, linear: Linear) -> tuple[int, float]:
    """Count nodes and cores as the autoscaler does: Ready and not cordoned, unless it includes unschedulable nodes."""
    nodes = [
        node
        for node in inventory.nodes.values()
        if linear.counts_unschedulable
        or (
            not node.spec.unschedulable
            and any(one.type == "Ready" and one.status == "True" for one in node.status.conditions or ())
        )
    ]
    return len(nodes), sum(parse_quantity((node.status.allocatable or {}).get("cpu", "0")) for node in nodes)


CHECKS = (
    ClusterCheck(
        name="dns-autoscaler-capped",
        summary="the DNS autoscaler's `max` is below what the cluster requires",
        needs=frozenset({"inventory", "configs"}),
        run=autoscaler_capped,
        parameters={"growth": 1.0},
        kinds=frozenset({"services"}),
    ),
)
