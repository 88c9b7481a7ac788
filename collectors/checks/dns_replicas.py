"""Checks of the DNS replicas: too few are ready, all are on one node, or their memory is too small."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from collectors.check import CheckInput, ClusterCheck
from collectors.cluster.conditions import is_pod_ready
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import SERVICES
from collectors.cluster.objects import Deployment, Pod
from collectors.cluster.resources import parse_quantity
from collectors.dns.autoscaler import autoscaler_of
from collectors.dns.deployment import answers_elsewhere, dns_deployment, dns_pods, wanted_replicas
from collectors.facts.labels import Labels
from collectors.facts.proportional import read_config
from collectors.facts.results import Blind, Sample
from collectors.facts.sentences import counted, sentence

_MEGABYTE = 10**6


@partial(
    ClusterCheck,
    name="dns-replicas",
    summary="fewer replicas of the cluster DNS are ready than expected",
    needs={"inventory", "configs"},
    parameters={"below": 1.0},
    kinds={"deployments"},
)
def replicas_short(inputs: CheckInput, parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample if fewer replicas are ready than expected: of the autoscaler, or else of the Deployment.

    The value is how many are ready. `below`: the share of the expected ones, under which there is a sample.
    """
    assert not isinstance(inputs.inventory, Blind)
    deployment = dns_deployment(inputs.inventory)
    if deployment is None:
        return []
    expected = _expected(inputs, deployment)
    if expected == 0 and not answers_elsewhere(inputs.inventory):
        expected = 1  # somebody scaled it to nothing
    ready = deployment.status.ready_replicas
    if ready >= expected * float(parameters["below"]):
        return []
    text = counted(
        "{count} of {expected} expected replicas is ready",
        "{count} of {expected} expected replicas are ready",
        count=ready,
        expected=expected,
    )
    return [Sample(labels=_labels(deployment), value=ready, texts=(text,))]


@partial(
    ClusterCheck,
    name="dns-on-one-node",
    summary="all replicas of the cluster DNS are on one node",
    kinds={"deployments", "replicasets"},
)
def on_one_node(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample if all ready replicas, at least two, are on one node: how many they are."""
    assert not isinstance(inputs.inventory, Blind)
    deployment = dns_deployment(inputs.inventory)
    if deployment is None:
        return []
    ready = [pod for pod in dns_pods(inputs.inventory, deployment) if is_pod_ready(pod)]
    nodes = {pod.spec.node_name for pod in ready}
    if len(ready) < 2 or len(nodes) != 1:
        return []
    text = sentence("all {ready} are on {node}", ready=len(ready), node=nodes.pop())
    return [Sample(labels=_labels(deployment), value=len(ready), texts=(text,))]


@partial(
    ClusterCheck,
    name="dns-memory",
    summary="the memory limit of the cluster DNS is below what the cluster's size requires",
    parameters={"base": 49.1, "per_thousand": 0.858},
    kinds={"deployments", "replicasets", "services"},
)
def memory_short(inputs: CheckInput, parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample if the memory limit of the replicas is below what the cluster's size requires: in megabytes.

    Each replica holds all pods and Services: `base` megabytes, and `per_thousand` for a thousand of them. Source:
    CoreDNS, Scaling CoreDNS in Kubernetes clusters.
    """
    assert not isinstance(inputs.inventory, Blind)
    deployment = dns_deployment(inputs.inventory)
    if deployment is None:
        return []
    held = len(inputs.inventory.pods) + len(inputs.inventory.all(SERVICES))
    needed = float(parameters["base"]) + float(parameters["per_thousand"]) * held / 1000
    limit = _memory_limit(inputs.inventory, deployment)
    if limit is None or limit >= needed:
        return []
    text = sentence(
        "{objects} pods and Services require {needed:.0f} MB in each replica; the limit is {limit:.0f} MB",
        objects=held,
        needed=needed,
        limit=limit,
    )
    return [Sample(labels=_labels(deployment), value=needed, texts=(text,))]


def _expected(inputs: CheckInput, deployment: Deployment) -> int:
    assert not isinstance(inputs.inventory, Blind)
    assert not isinstance(inputs.configs, Blind)
    autoscaler = autoscaler_of(inputs.inventory, deployment)
    config = inputs.configs.get(autoscaler.config) if autoscaler is not None else None
    if autoscaler is None or config is None:
        return wanted_replicas(deployment)
    try:
        return autoscaler.replicas(inputs.inventory.nodes.values(), read_config(config))
    except ValueError:
        return wanted_replicas(deployment)  # the autoscaler leaves it as it is


def _memory_limit(inventory: Inventory, deployment: Deployment) -> float | None:
    """Return the lowest limit of the replicas' first containers, in megabytes; None without a limit."""
    found = [limit for pod in dns_pods(inventory, deployment) if (limit := _limit_of(pod)) is not None]
    return min(found, default=None)


def _limit_of(pod: Pod) -> float | None:
    first = next(iter(pod.spec.containers or ()), None)
    limits = first.resources.limits if first is not None else None
    return parse_quantity(limits["memory"]) / _MEGABYTE if limits and "memory" in limits else None


def _labels(deployment: Deployment) -> Labels:
    meta = deployment.metadata
    return Labels({"component": "dns", "namespace": meta.namespace, "deployment": meta.name})


CHECKS = (replicas_short, on_one_node, memory_short)
