"""This file draws the topology from the inventory and the trainings: who stands on what. Pure."""

from collections.abc import Sequence

from collectors.cluster.inventory import Inventory, controller_of
from collectors.cluster.objects import Node
from collectors.cluster.resources import gpus_requested, holds_resources, is_ready, whole_gpus
from collectors.facts.topology import NodeFacts, PodFacts, Topology, TrainingFacts
from collectors.trainings.training import Training

RACK_KEYS = (
    "yardmaster.io/rack",
    "topology.kubernetes.io/rack",
    "topology.rook.io/rack",
    "rack",
)
PRODUCT_KEYS = ("nvidia.com/gpu.product", "amd.com/gpu.product-name", "nvidia-gpu-type")


def build_topology(
    inventory: Inventory,
    trainings: Sequence[Training],
    *,
    cluster: str,
    racks: Sequence[str] = RACK_KEYS,
    products: Sequence[str] = PRODUCT_KEYS,
) -> Topology:
    """The topology of one cluster. `racks` and `products` are the node labels that tell them, best first."""
    training_of_pod = {
        (training.namespace, rank.pod): training.id
        for training in trainings
        for rank in (
            *training.failures,
            *training.ranks,
        )  # a pod that an attempt left behind belongs to it too
    }
    pods: dict[tuple[str, str], PodFacts] = {}
    on_node: dict[str, list[PodFacts]] = {}
    node_of_address = {
        address.address: node.metadata.name
        for node in inventory.nodes.values()
        for address in node.status.addresses or ()
    }
    for pod in inventory.pods.values():
        namespace, name = pod.metadata.namespace, pod.metadata.name
        is_held = holds_resources(pod)
        facts = PodFacts(
            namespace=namespace,
            name=name,
            node=pod.spec.node_name,
            address=pod.status.pod_ip,
            phase=pod.status.phase,
            training=training_of_pod.get((namespace, name), ""),
            workload=inventory.workload_of(pod),
            gpus=sum(gpus_requested(pod.spec).values()) if is_held else 0,
        )
        pods[namespace, name] = facts
        if not is_held or not facts.node:
            continue
        on_node.setdefault(facts.node, []).append(facts)
        if facts.address and not pod.spec.host_network:
            node_of_address.setdefault(facts.address, facts.node)
        owner = controller_of(pod.metadata)
        if owner and owner.kind == "DaemonSet":  # an exporter may give its pod's name as the host's
            node_of_address.setdefault(name, facts.node)
    return Topology(
        cluster=cluster,
        as_of=inventory.as_of,
        nodes={name: _node(node, racks, products) for name, node in inventory.nodes.items()},
        pods=pods,
        trainings={training.id: _training(training) for training in trainings},
        node_of_address=node_of_address,
        pods_on={name: tuple(there) for name, there in on_node.items()},
        training_of={
            **{workload: training.id for training in trainings for workload in training.workloads},
            **{training.namespace: training.id for training in trainings if training.has_namespace},
        },
    )


def _node(node: Node, racks: Sequence[str], products: Sequence[str]) -> NodeFacts:
    labels = node.metadata.labels or {}
    return NodeFacts(
        name=node.metadata.name,
        rack=next((labels[key] for key in racks if labels.get(key)), ""),
        addresses=tuple(one.address for one in node.status.addresses or ()),
        gpus=whole_gpus(node),
        gpu_product=next((labels[key] for key in products if labels.get(key)), ""),
        is_ready=is_ready(node),
        is_cordoned=node.spec.unschedulable,
    )


def _training(training: Training) -> TrainingFacts:
    return TrainingFacts(
        id=training.id,
        kind=training.kind,
        owner=training.owner,
        team=training.team,
        gpus=training.gpus,
        ranks=len(training.ranks),
    )
