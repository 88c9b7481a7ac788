"""The topology: which pods, trainings and nodes depend on each other, for naming and grouping."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from collectors.facts.places import RACK_PLACE, ZONE_PLACE
from collectors.facts.subjects import Subject
from collectors.facts.workload_keys import is_workload_key, parse_workload

PodKey = tuple[str, str]  # namespace, name

_URL = re.compile(r"https?://([^/?#]+)")
_PCI = re.compile(r"([0-9A-Fa-f]{1,8}):([0-9A-Fa-f]{1,2}):([0-9A-Fa-f]{1,2})(?:\.[0-7])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFacts:
    """A node. `gpus` counts whole devices in its capacity; `is_ready` is None when unknown.

    `places`: what else it is a part of, by kind, such as its switch; places.py has the kinds.
    """

    name: str
    rack: str = ""
    zone: str = ""
    places: Mapping[str, str] = field(default_factory=dict)
    addresses: tuple[str, ...] = ()
    gpus: int = 0
    gpu_product: str = ""
    is_ready: bool | None = None
    is_cordoned: bool = False
    boot_id: str = ""  # another one after each boot
    gpus_out: float = 0  # devices and slices that are in its capacity and not allocatable

    def place(self, kind: str) -> str:
        """Return the name of its place of this kind; empty if it is not known."""
        return {RACK_PLACE: self.rack, ZONE_PLACE: self.zone}.get(kind, "") or self.places.get(kind, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class PodFacts:
    """A pod. `gpus` counts the GPUs it holds of any resource; a finished pod holds none.

    `workload` is the top of its owner chain; a pod without an owner that takes GPUs is its own.
    """

    namespace: str
    name: str
    node: str = ""
    address: str = ""
    phase: str = ""
    training: str = ""
    workload: str = ""
    gpus: float = 0

    @property
    def user(self) -> str:
        """Who holds its GPUs: its training, or else its workload if it holds any."""
        return self.training or (self.workload if self.gpus else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingFacts:
    """A training that exists in the cluster. `gpus` are those it holds now."""

    id: str  # its key
    name: str = ""  # what people type for it alone
    kind: str = ""
    owner: str = ""
    team: str = ""
    gpus: float = 0
    ranks: int = 0
    nodes: tuple[str, ...] = ()  # of its ranks, sorted; also of those that have ended
    failed_at: datetime | None = None  # when its first task failed, if the training has failed
    failure: str = ""  # what is known of it

    @property
    def shown(self) -> str:
        """What people read and type."""
        return self.name or self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadFacts:
    """A workload with GPUs that is not a training. `gpus` are those it holds now."""

    id: str  # its key
    owner: str = ""
    team: str = ""
    gpus: float = 0
    pods: int = 0  # that take GPUs, also those that wait for them

    @property
    def shown(self) -> str:
        """What people read."""
        return shown_name(self.id)


GpuUser = TrainingFacts | WorkloadFacts


def shown_name(user: str) -> str:
    """Return how people read a workload: `PyTorchJob vision/resnet`; the name of a training as it is."""
    return parse_workload(user).shown if is_workload_key(user) else user


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFacts:
    """A claim of a volume. `name` is namespace/name; `writers` are those of its trainings that may write.

    Its pods are namespace/name, those that wait to start with the node that they are bound to.
    """

    name: str
    trainings: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()
    waiting: Mapping[str, str] = field(default_factory=dict)
    running: tuple[str, ...] = ()


def gpu_keys(subject: Subject, pci: str = "") -> tuple[tuple[str, str], ...]:
    """Return the keys of a GPU, the surest first: its UUID, then its address or index on its node."""
    found = [("", subject.uuid)] if subject.uuid else []
    if subject.node:
        found += [(subject.node, address)] if (address := pci_address(pci)) else []
        found += [(subject.node, subject.gpu)] if subject.gpu else []
    return tuple(found)


def pci_address(text: str) -> str:
    """Return an address on the bus as `domain:bus:device`, however DCGM or the kernel writes it; empty for others."""
    found = _PCI.fullmatch(text.strip())
    return ":".join(f"{int(part, 16):x}" for part in found.groups()) if found else ""


def host_of(text: str) -> str:
    """Return the host of a target's address; its port is a number, and an address of IPv6 is in brackets then."""
    before, colon, port = text.rpartition(":")
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return before if colon and port.isdigit() and ":" not in before else text


def _hosts(text: str) -> tuple[str, ...]:
    """Return what may be the name or the address of a host in this text, the whole of it first."""
    if url := _URL.match(text):
        text = url[1]
    host = host_of(text)
    before = text.rpartition(":")[0]
    path = text.rpartition("/")[2]
    found = (text, host, host.partition(".")[0], before, before.partition(".")[0], path)
    return tuple(one for one in dict.fromkeys(found) if one)


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """The topology of one cluster at one moment. A lookup never fails: an unknown name gives an empty result."""

    cluster: str
    as_of: datetime | None = None
    nodes: Mapping[str, NodeFacts] = field(default_factory=dict)
    pods: Mapping[tuple[str, str], PodFacts] = field(default_factory=dict)  # (namespace, name)
    trainings: Mapping[str, TrainingFacts] = field(default_factory=dict)
    node_of_address: Mapping[str, str] = field(default_factory=dict)
    pods_on: Mapping[str, tuple[PodFacts, ...]] = field(default_factory=dict)  # by node; no finished pods
    workloads: Mapping[str, WorkloadFacts] = field(
        default_factory=dict
    )  # with GPUs; those that are not trainings
    training_of: Mapping[str, str] = field(default_factory=dict)  # by workload, or by dedicated namespace
    keys: Mapping[str, str] = field(
        default_factory=dict
    )  # of trainings by their names, of workloads by what labels have
    claims: Mapping[str, ClaimFacts] = field(default_factory=dict)  # by name, and by the volume's
    gpu_pods: Mapping[tuple[str, str], tuple[tuple[str, str], ...]] = field(
        default_factory=dict
    )  # the pods on a GPU, as its series say, by each of `gpu_keys`
    failed_on: Mapping[str, tuple[TrainingFacts, ...]] = field(
        default_factory=dict
    )  # by the nodes of the first failures

    def complete(self, subject: Subject) -> Subject:
        """Return the subject with everything that follows from it: a pod's node and training, a node's rack, an owner.

        An address, a host name or the name of an exporter's pod becomes the node's name.
        """
        node = self.node_named(subject.node)
        known = replace(subject, node=node, cluster=subject.cluster or self.cluster)
        if pod := self.pods.get((known.namespace, known.pod)):
            if self.nodes and known.node not in self.nodes:
                known = replace(known, node=pod.node)
            own = self.trainings.get(pod.training)
            name = own.name if own is not None else ""
            known = known.or_else(
                Subject(node=pod.node, training=pod.training, training_name=name, workload=pod.workload)
            )
        if key := self.keys.get(known.training):
            known = replace(known, training=key)
        if key := self.keys.get(known.workload):
            known = replace(known, workload=key)
        if owning := self.training_of.get(known.workload) or self.training_of.get(known.namespace):
            known = known.or_else(Subject(training=owning))
        if training := self.trainings.get(known.training):
            known = replace(known, training_name=training.name)
            known = known.or_else(Subject(owner=training.owner, team=training.team))
        elif workload := self.workloads.get(known.workload):
            known = known.or_else(Subject(owner=workload.owner, team=workload.team))
        if node_facts := self.nodes.get(known.node):
            known = known.or_else(Subject(rack=node_facts.rack))
        return known

    def node_named(self, text: str) -> str:
        """Find the node by its name or address, either with a port, or by its full host name; else the host itself.

        A port may have its name, as in managed Prometheus. Names of hosts are the same in upper and lower case.
        """
        hosts = _hosts(text)
        for name in (*hosts, *(host.lower() for host in hosts)):
            if name in self.nodes:
                return name
            if node := self.node_of_address.get(name):
                return node
        return host_of(text)

    def affected_by(self, subject: Subject, *, holding_gpus: bool = False) -> tuple[GpuUser, ...]:
        """Return the trainings and the workloads with GPUs that run on the subject or mount it, the largest first.

        `holding_gpus`: of a node's, only those that hold GPUs there.
        """
        if (claim := self.claims.get(subject.volume)) and claim.trainings:
            names = set(claim.trainings)
        elif subject.pod and (pod := self.pods.get((subject.namespace, subject.pod))):
            names = {pod.user or subject.training or pod.workload}
        elif subject.training:
            names = {subject.training}
        elif subject.pod:
            names = set()
        elif subject.workload:
            names = {subject.workload}
        elif subject.node:
            names = {pod.user for pod in self.pods_on.get(subject.node, ()) if pod.gpus or not holding_gpus}
        elif subject.rack:
            racked = (node.name for node in self.nodes.values() if node.rack == subject.rack)
            names = {pod.user for node in racked for pod in self.pods_on.get(node, ())}
        else:
            names = set()
        found = (user for name in names if (user := self.user(name)) is not None)
        return tuple(sorted(found, key=lambda user: (-user.gpus, user.id)))

    def on_gpu(self, subject: Subject, pci: str = "") -> tuple[GpuUser, ...]:
        """Return those who run on the subject's GPU, as far as that is known; the largest first.

        Its labels or its series say so, or one of them holds all GPUs of the node. `pci`: the address on the bus of a
        GPU that is known by no other name.
        """
        keys = gpu_keys(subject, pci)
        named = [(subject.namespace, subject.pod)] if keys and subject.pod else []
        found = next((self.gpu_pods[key] for key in keys if key in self.gpu_pods), ())
        pods = [pod for key in named or found if (pod := self.pods.get(key)) is not None and pod.gpus]
        names = {pod.user for pod in pods if subject.node in ("", pod.node)}
        names = names or (self._holder_of_all(subject.node) if keys else set())
        users = (user for name in names if (user := self.user(name)) is not None)
        return tuple(sorted(users, key=lambda user: (-user.gpus, user.id)))

    def _holder_of_all(self, node: str) -> set[str]:
        """Return who alone holds all GPUs of a node."""
        facts = self.nodes.get(node)
        pods = [pod for pod in self.pods_on.get(node, ()) if pod.gpus]
        users = {pod.user for pod in pods}
        is_whole = facts is not None and sum(pod.gpus for pod in pods) == facts.gpus
        return users if is_whole and len(users) == 1 else set()

    def user(self, name: str) -> GpuUser | None:
        """Return the training or the workload with GPUs of this key."""
        return self.trainings.get(name) or self.workloads.get(name)
