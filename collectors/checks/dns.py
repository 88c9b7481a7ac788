"""This file has the checks of the cluster's DNS: the autoscaler that stands at its cap."""

from collections.abc import Mapping, Sequence
from typing import Any

from collectors.checks.check import CheckInput, ClusterCheck
from collectors.cluster.inventory import Inventory
from collectors.cluster.resources import parse_quantity
from collectors.facts.labels import Labels
from collectors.facts.proportional import Linear, read_linear, services_rule
from collectors.facts.results import Blind, Sample


def autoscaler_capped(inputs: CheckInput, parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """One sample for each linear autoscaler whose `max` holds back what nodes, or Services, call for.

    The value is how many replicas are called for. `growth`: how far above `max` that has to be.
    """
    assert not isinstance(inputs.inventory, Blind)
    assert not isinstance(inputs.configs, Blind)
    found = []
    for name, held in inputs.configs.items():
        if "linear" not in held:
            continue
        try:
            linear = read_linear(held["linear"])
        except ValueError:
            continue  # a broken document is the business of another check
        nodes, cores = counted(inputs.inventory, linear)
        by_size = linear.unbounded(nodes=nodes, cores=cores)
        services = sum(one.spec.type != "ExternalName" for one in inputs.inventory.services.values())
        by_services = services_rule(linear, services=services)
        wanted = max(by_size, by_services)
        if linear.max and wanted > linear.max * float(parameters["growth"]):
            driver = f"{services} Services" if by_services > by_size else f"{nodes} nodes"
            told = f"{driver} call for {wanted} replicas, `max` is {linear.max}"
            labels = Labels(
                {"component": "dns", "namespace": name.partition("/")[0], "configmap": name.partition("/")[2]}
            )
            found.append(Sample(labels=labels, value=wanted, texts=(told,)))
    return found


def counted(inventory: Inventory, linear: Linear) -> tuple[int, float]:
    """Nodes and cores as the autoscaler counts them: not cordoned and Ready, unless it counts all."""
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
        summary="the DNS autoscaler's `max` holds back what the cluster calls for",
        needs=frozenset({"inventory", "configs"}),
        run=autoscaler_capped,
        parameters={"growth": 1.0},
        kinds=frozenset({"services"}),
    ),
)
