"""Checks of what runs the cluster, as its pods show it: agents on each node, control plane pods, and operators."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from collectors.check import CheckInput, ClusterCheck, Found
from collectors.cluster.conditions import is_node_ready
from collectors.cluster.indexes import by_involved_object, by_owner_of_pod
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import DEPLOYMENTS, EVENTS, PODS
from collectors.cluster.objects import Pod
from collectors.cluster.resources import holds_resources
from collectors.facts.labels import Labels
from collectors.facts.results import Blind, Sample
from collectors.facts.sentences import listed, sentence
from collectors.facts.workload_keys import parse_workload

_NOT_READY = sentence("not ready")
_TEXTS = 3  # names of one sample
_NETWORK = "calico-node canal cilium kube-flannel* flannel weave-net antrea-agent kube-router kube-ovn-cni kube-proxy"


@partial(
    ClusterCheck,
    name="agent-down",
    summary="the pod of a DaemonSet on a ready node is not ready",
    parameters={"daemonsets": _NETWORK},
)
def agent_down(inputs: CheckInput, parameters: Mapping[str, Any]) -> Found:
    """Return a sample for each ready node and DaemonSet whose pod there is not ready, with what its probe said.

    `daemonsets`: patterns of names, separated by spaces. A node that is not ready itself is left to its own check.
    """
    assert not isinstance(inputs.inventory, Blind)
    for name, pods in _agents(inputs.inventory, str(parameters["daemonsets"])).items():
        for pod in pods:
            yield None
            node = inputs.inventory.nodes.get(pod.spec.node_name)
            if _works(pod) or node is None or is_node_ready(node) is not True:
                continue
            labels = Labels({"node": pod.spec.node_name, "component": name})
            yield Sample(labels=labels, value=1, texts=(_reason(pod, inputs.inventory),))


@partial(
    ClusterCheck,
    name="agents-down",
    summary="many pods of a DaemonSet are not ready",
    parameters={"daemonsets": _NETWORK, "share": 0.1},
)
def agents_down(inputs: CheckInput, parameters: Mapping[str, Any]) -> Found:
    """Return a sample for each DaemonSet with more than `share` of its pods, and at least two, not ready: the share."""
    assert not isinstance(inputs.inventory, Blind)
    for name, pods in _agents(inputs.inventory, str(parameters["daemonsets"])).items():
        yield None
        down = [pod for pod in pods if not _works(pod)]
        if len(down) > 1 and len(down) / len(pods) > float(parameters["share"]):
            nodes = listed(sorted(pod.spec.node_name for pod in down)[:_TEXTS])
            text = sentence(
                "{down} of {pods} are not ready, such as on {nodes}",
                down=len(down),
                pods=len(pods),
                nodes=nodes,
            )
            yield Sample(labels=Labels({"component": name}), value=len(down) / len(pods), texts=(text,))


@partial(
    ClusterCheck,
    name="control-plane-down",
    summary="pods of a component of the control plane are not ready",
    parameters={"all": 1},
)
def control_plane_down(inputs: CheckInput, parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each component of the control plane with pods that are not ready: how many.

    `all`: 1 for components without any ready pod, 0 for those that have one left.
    """
    assert not isinstance(inputs.inventory, Blind)
    pods: dict[str, list[Pod]] = defaultdict(list)
    for pod in (one for key, one in inputs.inventory.pods.items() if key.startswith("kube-system/")):
        labels = pod.metadata.labels or {}
        if labels.get("tier") == "control-plane" and holds_resources(pod):
            pods[labels.get("component", pod.metadata.name)].append(pod)
    found = []
    for component, of_it in pods.items():
        down = [pod for pod in of_it if not _works(pod)]
        if down and (len(down) == len(of_it)) == bool(parameters["all"]):
            texts = tuple(
                listed([pod.metadata.name, _reason(pod, inputs.inventory)], ":") for pod in down[:_TEXTS]
            )
            found.append(Sample(labels=Labels({"component": component}), value=len(down), texts=texts))
    return found


@partial(
    ClusterCheck,
    name="operator-down",
    summary="a Deployment that the cluster depends on has no ready replica",
    parameters={
        "deployments": "*training-operator* volcano-* kueue-controller-manager jobset-controller-manager "
        "mpi-operator* *dns-autoscaler calico-kube-controllers* calico-typha* metallb-controller gpu-operator* "
        "rook-ceph-operator *csi*provisioner* *kube-state-metrics prometheus-operator* *prometheus-operator"
    },
    kinds={"deployments"},
)
def operator_down(inputs: CheckInput, parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each of these Deployments that wants replicas and has none ready: how many it wants."""
    assert not isinstance(inputs.inventory, Blind)
    patterns = str(parameters["deployments"]).split()
    return [
        Sample(
            labels=Labels({"component": one.metadata.name, "namespace": one.metadata.namespace}),
            value=1 if one.spec.replicas is None else one.spec.replicas,
        )
        for one in inputs.inventory.all(DEPLOYMENTS).values()
        if one.spec.replicas != 0
        and not one.status.ready_replicas
        and any(fnmatchcase(one.metadata.name, pattern) for pattern in patterns)
    ]


def _agents(inventory: Inventory, patterns: str) -> Mapping[str, Sequence[Pod]]:
    """Return the pods that DaemonSets with such names run on nodes, by the DaemonSet."""
    found: dict[str, list[Pod]] = defaultdict(list)
    for name, pods in _daemon_pods(inventory):
        if any(fnmatchcase(name, pattern) for pattern in patterns.split()):
            found[name] += (pod for pod in pods if pod.spec.node_name and holds_resources(pod))
    return {name: pods for name, pods in found.items() if pods}


def _daemon_pods(inventory: Inventory) -> Iterator[tuple[str, Sequence[Pod]]]:
    """Yield the name and the pods of each DaemonSet, also of those that others than Kubernetes define."""
    for owner, pods in inventory.grouped(PODS, by_owner_of_pod).items():
        _, kind, name = parse_workload(owner)
        if kind.partition(".")[0] == "DaemonSet":
            yield name, pods


def _works(pod: Pod) -> bool:
    """Whether its Ready condition is True. One that is being replaced counts as working."""
    if pod.metadata.deletion_timestamp is not None:
        return True
    return any(one.type == "Ready" and one.status == "True" for one in pod.status.conditions or ())


def _reason(pod: Pod, inventory: Inventory) -> str:
    """Return what its failing probe said, or else why a container waits, or its Ready condition."""
    about = f"{pod.metadata.namespace}/Pod/{pod.metadata.name}"
    probes = [
        event
        for event in inventory.select(EVENTS, by_involved_object, about)
        if event.reason == "Unhealthy" and event.last_seen
    ]
    if probes:
        return max(probes, key=lambda event: str(event.last_seen)).message
    for status in pod.status.container_statuses or ():
        if status.state.waiting is not None and status.state.waiting.reason:
            return f"{status.name}: {status.state.waiting.reason}"
    ready = next((one for one in pod.status.conditions or () if one.type == "Ready"), None)
    return ready.message or ready.reason or _NOT_READY if ready else pod.status.phase or _NOT_READY


CHECKS = (agent_down, agents_down, control_plane_down, operator_down)
