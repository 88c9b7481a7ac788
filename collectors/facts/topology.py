"""This file has the topology: a frozen picture of who stands on what, for naming and folding."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from collectors.facts.subjects import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFacts:
    """A node. `gpus` counts whole devices in its capacity; `is_ready` is None when the API does not say."""

    name: str
    rack: str = ""
    addresses: tuple[str, ...] = ()
    gpus: int = 0
    gpu_product: str = ""
    is_ready: bool | None = None
    is_cordoned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PodFacts:
    """A pod. `gpus` counts what it holds of any GPU resource; a finished pod holds none."""

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
    """A training that the cluster still shows. `id` is namespace/name; `gpus` is what it holds now."""

    id: str
    kind: str = ""
    owner: str = ""
    team: str = ""
    gpus: float = 0
    ranks: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """Who stands on what in one cluster, as of one moment. None of its look-ups fails: unknown gives nothing."""

    cluster: str
    as_of: datetime | None = None
    nodes: Mapping[str, NodeFacts] = field(default_factory=dict)
    pods: Mapping[tuple[str, str], PodFacts] = field(default_factory=dict)  # (namespace, name)
    trainings: Mapping[str, TrainingFacts] = field(default_factory=dict)
    node_of_address: Mapping[str, str] = field(default_factory=dict)
    pods_on: Mapping[str, tuple[PodFacts, ...]] = field(default_factory=dict)  # by node, the unfinished
    training_of: Mapping[str, str] = field(
        default_factory=dict
    )  # by workload, or by a namespace given over to one

    def complete(self, subject: Subject) -> Subject:
        """The subject with everything that follows from it: a pod's node and training, a node's rack, an owner.

        A name that an exporter gives as an address, a host name or its own pod becomes the node's name.
        """
        node = self._node_named(subject.node)
        known = replace(subject, node=node, cluster=subject.cluster or self.cluster)
        if pod := self.pods.get((known.namespace, known.pod)):
            if self.nodes and known.node not in self.nodes:
                known = replace(known, node=pod.node)
            known = known.or_else(Subject(node=pod.node, training=pod.training, workload=pod.workload))
        if belongs := self.training_of.get(known.workload) or self.training_of.get(known.namespace):
            known = known.or_else(Subject(training=belongs))
        if training := self.trainings.get(known.training):
            known = known.or_else(Subject(owner=training.owner, team=training.team))
        if place := self.nodes.get(known.node):
            known = known.or_else(Subject(rack=place.rack))
        return known

    def _node_named(self, said: str) -> str:
        """The node that is meant by a name, an address, either with a port, a full host name, an exporter's pod."""
        host, colon, port = said.rpartition(":")
        host = host.strip("[]") if colon and port.isdigit() else said
        short = host.partition(".")[0]
        for name in (said, host, short):
            if name in self.nodes:
                return name
        return self.node_of_address.get(host, host)

    def affected_by(self, subject: Subject) -> tuple[TrainingFacts, ...]:
        """The trainings that stand on the broken thing, the largest first."""
        if subject.training:
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
