"""The topology of the inventory and the trainings. Pods are read when they are looked up: there may be 50,000."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TypeVar

from collectors.claim_users import Claims
from collectors.cluster.conditions import is_node_ready
from collectors.cluster.indexes import by_address
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import PODS
from collectors.cluster.objects import Pod
from collectors.cluster.resources import (
    gpu_resource,
    gpus_out_of_service,
    holds_resources,
    whole_gpus,
)
from collectors.facts.places import PLACE_LABELS, RACK_PLACE, ZONE_PLACE, places_of
from collectors.facts.sentences import listed, sentence
from collectors.facts.topology import NodeFacts, PodFacts, PodKey, Topology, TrainingFacts
from collectors.gpu_workloads import GpuWorkloads
from collectors.keys_of_names import KeysOfNames
from collectors.trainings.training import Rank, Training, TrainingState

K = TypeVar("K")
V = TypeVar("V")

PRODUCT_KEYS = ("nvidia.com/gpu.product", "amd.com/gpu.product-name", "nvidia-gpu-type")


def build_topology(
    inventory: Inventory,
    trainings: Sequence[Training],
    *,
    cluster: str,
    places: Mapping[str, tuple[str, ...]] = PLACE_LABELS,
    products: Sequence[str] = PRODUCT_KEYS,
) -> Topology:
    """Return the topology of one cluster. `places` and `products` are the node labels to read, best first."""
    pods = _Pods(inventory, trainings)
    return Topology(
        cluster=cluster,
        as_of=inventory.as_of,
        nodes=_OnDemand(inventory.nodes, lambda name: _node(name, inventory, places, products)),
        pods=_OnDemand(_PodKeys(inventory.pods), pods.facts),
        trainings={
            training.id: inventory.memo.get(("facts", training.id), (training,), partial(_training, training))
            for training in trainings
        },
        workloads=pods.workloads,
        node_of_address=_Addresses(inventory),
        pods_on=_OnDemand(inventory.nodes, pods.on_node),
        training_of={
            **{
                workload: training.id
                for training in trainings
                for workload in (*training.owned, *training.workloads)
            },
            **{training.namespace: training.id for training in trainings if training.has_namespace},
        },
        keys=KeysOfNames(inventory, trainings),
        failed_on=_failed_on(trainings),
        claims=Claims(inventory, pods.training_of),
    )


def _failed_on(trainings: Sequence[Training]) -> dict[str, tuple[TrainingFacts, ...]]:
    """Return the failed trainings by the nodes where their first tasks failed.

    The tasks of a gang end together: which of them is the first, their times do not tell.
    """
    found: dict[str, tuple[TrainingFacts, ...]] = {}
    for training in trainings:
        if training.state is not TrainingState.FAILED:
            continue
        facts = _training(training)
        for node in training.failed_together:
            found[node] = (*found.get(node, ()), facts)
    return found


class _OnDemand(Mapping[K, V]):
    """A mapping with these keys, whose values are made when they are looked up."""

    def __init__(self, keys: Collection[K], make: Callable[[K], V]) -> None:
        self._keys = keys
        self._make = make
        self._made: dict[K, V] = {}

    def __getitem__(self, key: K) -> V:
        if key not in self._made:
            if key not in self._keys:
                raise KeyError(key)
            self._made[key] = self._make(key)
        return self._made[key]

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[K]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


class _Pods:
    """The facts about pods, each made when it is looked up."""

    def __init__(self, inventory: Inventory, trainings: Sequence[Training]) -> None:
        self._inventory = inventory
        self._trainings = trainings
        self.workloads = GpuWorkloads(inventory, self.training_of)

    @cached_property
    def _training_of(self) -> Mapping[PodKey, str]:
        return {
            (training.namespace, rank.pod): training.id
            for training in self._trainings
            # a pod left by an earlier attempt belongs to it too
            for rank in (*training.failures, *training.ranks)
        }

    def training_of(self, pod: Pod) -> str:
        """Return the pod's training, empty without one."""
        return self._training_of.get((pod.metadata.namespace, pod.metadata.name), "")

    def facts(self, key: PodKey) -> PodFacts:
        return self._facts(self._inventory.pods["/".join(key)])

    def on_node(self, name: str) -> tuple[PodFacts, ...]:
        return tuple(self._facts(pod) for pod in self._inventory.pods_on(name) if holds_resources(pod))

    def _facts(self, pod: Pod) -> PodFacts:
        namespace, name = pod.metadata.namespace, pod.metadata.name
        return PodFacts(
            namespace=namespace,
            name=name,
            node=pod.spec.node_name,
            address=pod.status.pod_ip,
            phase=pod.status.phase,
            training=self.training_of(pod),
            workload=self.workloads.of(pod) or self._inventory.workload_of(pod),
            gpus=_or_none(lambda: self._inventory.gpus_held(pod)),
        )


class _PodKeys(Collection[PodKey]):
    """The keys (namespace, name) of pods, whose inventory has `namespace/name`."""

    def __init__(self, pods: Mapping[str, Pod]) -> None:
        self._pods = pods

    def __contains__(self, key: object) -> bool:
        return isinstance(key, tuple) and "/".join(key) in self._pods

    def __iter__(self) -> Iterator[PodKey]:
        return ((pod.metadata.namespace, pod.metadata.name) for pod in self._pods.values())

    def __len__(self) -> int:
        return len(self._pods)


class _Addresses(Mapping[str, str]):
    """The nodes by their addresses, and by those of their pods."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory

    @cached_property
    def _of_nodes(self) -> Mapping[str, str]:
        names = list(self._inventory.nodes)
        short = Counter(name.partition(".")[0] for name in names)
        return {
            **{one: name for name in names if short[one := name.partition(".")[0]] == 1},
            **{
                address.address: node.metadata.name
                for node in self._inventory.nodes.values()
                for address in node.status.addresses or ()
            },
        }

    def __getitem__(self, address: str) -> str:
        if node := self._of_nodes.get(address):
            return node
        for pod in self._inventory.select(PODS, by_address, address):
            if pod.spec.node_name and holds_resources(pod):
                return pod.spec.node_name
        raise KeyError(address)

    def _addresses(self) -> Iterator[str]:
        yield from self._of_nodes
        for pod in self._inventory.pods.values():
            yield from by_address(pod)

    def __iter__(self) -> Iterator[str]:
        return (one for one in dict.fromkeys(self._addresses()) if one in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _node(
    name: str, inventory: Inventory, labels_of: Mapping[str, tuple[str, ...]], products: Sequence[str]
) -> NodeFacts:
    node = inventory.nodes[name]
    labels = node.metadata.labels or {}
    places = dict(places_of(labels, labels_of))
    return NodeFacts(
        name=node.metadata.name,
        rack=places.pop(RACK_PLACE, ""),
        zone=places.pop(ZONE_PLACE, ""),
        places=places,
        addresses=tuple(one.address for one in node.status.addresses or ()),
        gpus=round(_or_none(lambda: whole_gpus(node))) or _whole_devices(name, inventory),
        gpu_product=next((labels[key] for key in products if labels.get(key)), ""),
        is_ready=is_node_ready(node),
        is_cordoned=node.spec.unschedulable,
        boot_id=node.status.node_info.boot_id,
        gpus_out=_or_none(lambda: sum(counts.unhealthy for counts in gpus_out_of_service(node).values())),
    )


def _whole_devices(name: str, inventory: Inventory) -> int:
    """Return a node's GPUs that no device plugin gives but a driver of dynamic resource allocation."""
    devices = inventory.gpu_devices_on(name).items()
    return sum(count for name, (count, _) in devices if (gpu := gpu_resource(name)) and not gpu.is_slice)


def _or_none(count: Callable[[], float]) -> float:
    """Return the count; 0 for an object with a quantity that cannot be read: a lookup never fails."""
    try:
        return count()
    except ValueError:
        return 0


def _training(training: Training) -> TrainingFacts:
    first = training.first_failure if training.state is TrainingState.FAILED else None
    return TrainingFacts(
        id=training.id,
        name=training.typed,
        kind=training.kind,
        owner=training.owner,
        team=training.team,
        gpus=training.gpus,
        ranks=len(training.ranks),
        nodes=tuple(sorted({rank.node for rank in training.ranks if rank.node})),
        failed_at=first.finished if first else None,
        failure=_failure(first) if first else "",
    )


def _failure(rank: Rank) -> str:
    parts = [rank.explanation or rank.reason] if rank.explanation or rank.reason else []
    if rank.exit_code is not None:
        parts.insert(0, sentence("exit code {exit_code}", exit_code=rank.exit_code))
    if not parts:
        return sentence("{role} {rank} failed", role=rank.role, rank=str(rank.index))
    return sentence(
        "{role} {rank} failed, {reason}", role=rank.role, rank=str(rank.index), reason=listed(parts, ":")
    )
