"""The topology: which pods, trainings and nodes depend on each other, for naming and grouping."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from collectors.facts.subjects import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFacts:
    """A node. `gpus` counts whole devices in its capacity; `is_ready` is None when unknown."""

    name: str
    rack: str = ""
    addresses: tuple[str, ...] = ()
    gpus: int = 0
    gpu_product: str = ""
    is_ready: bool | None = None
    is_cordoned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PodFacts:
    """A pod. `gpus` counts the GPUs it holds of any resource; a finished pod holds none."""

    namespace: str
    name: str
    node: str = ""
    address: str = ""
    phase: str = ""
    training: str = ""
    workload: str = ""
    gpus: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingFacts:
    """A training that exists in the cluster. `id` is namespace/name; `gpus` are those it holds now."""

    id: str
    kind: str = ""
    owner: str = ""
    team: str = ""
    gpus: float = 0
    ranks: int = 0
    nodes: tuple[str, ...] = ()  # of its ranks, sorted; also of those that have ended
    failed_at: datetime | None = None  # when its first task failed, if the training has failed
    failure: str = ""  # what is known of it


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFacts:
    """A claim of a volume. `name` is namespace/name; `writers` are those of its trainings that may write."""

    name: str
    trainings: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()


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
    training_of: Mapping[str, str] = field(default_factory=dict)  # by workload, or by dedicated namespace
    claims: Mapping[str, ClaimFacts] = field(default_factory=dict)  # by name, and by the volume's
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
            known = known.or_else(Subject(node=pod.node, training=pod.training, workload=pod.workload))
        if owning := self.training_of.get(known.workload) or self.training_of.get(known.namespace):
            known = known.or_else(Subject(training=owning))
        if training := self.trainings.get(known.training):
            known = known.or_else(Subject(owner=training.owner, team=training.team))
        if node_facts := self.nodes.get(known.node):
            known = known.or_else(Subject(rack=node_facts.rack))
        return known

    def node_named(self, text: str) -> str:
        """Find the node by its name or address, either with a port, or by its full host name; else the host itself."""
        host, colon, port = text.rpartition(":")
        host = host.strip("[]") if colon and port.isdigit() else text
        short = host.partition(".")[0]
        for name in (text, host, short):
            if name in self.nodes:
                return name
        return self.node_of_address.get(host, host) if host else ""

    def affected_by(self, subject: Subject) -> tuple[TrainingFacts, ...]:
        """Return the trainings that run on the subject or mount it, the largest first."""
        if (claim := self.claims.get(subject.volume)) and claim.trainings:
            names = set(claim.trainings)
        elif subject.training:
            names = {subject.training}
        elif subject.pod:
            pod = self.pods.get((subject.namespace, subject.pod))
            names = {pod.training} if pod else set()
        elif subject.node:
            names = {pod.training for pod in self.pods_on.get(subject.node, ())}
        elif subject.rack:
            racked = (node.name for node in self.nodes.values() if node.rack == subject.rack)
            names = {pod.training for node in racked for pod in self.pods_on.get(node, ())}
        else:
            names = set()
        found = (self.trainings[name] for name in names if name in self.trainings)
        return tuple(sorted(found, key=lambda training: (-training.gpus, training.id)))
