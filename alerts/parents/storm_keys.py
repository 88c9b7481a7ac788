"""Keys of storms: each is a kind of thing that nodes may have in common, the closest first. Pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from alerts.incidents.incident import Incident
from alerts.rules import ImpactScope
from collectors.facts.places import RACK_PLACE, ZONE_PLACE
from collectors.facts.topology import Topology

NODE_GROUPS = ("node", "pod")  # kinds of group keys: an incident of another kind is about more than its node


def node_of(incident: Incident) -> str:
    """Return the node that the incident is about, empty if it is not about one."""
    kind = incident.group_key.partition("/")[0]
    return incident.subject.node if kind in NODE_GROUPS and not incident.crash_of else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StormKey:
    """A kind of thing that nodes have in common. `of`: the ids of those that an incident's node belongs to.

    `nodes`: how many nodes belong to one, if `share` of them must be hit before it explains a storm. `times`: how many
    times as many nodes as elsewhere make a storm. `is_lasting`: whether what breaks later joins while it is one.
    """

    kind: str
    of: Callable[[Incident, Topology], Iterable[str]]
    nodes: Callable[[str, Topology], int] = lambda _id, _topology: 0
    shown: Callable[[str, Topology], str] = lambda id, _topology: id
    share: float = 0
    times: int = 1
    is_lasting: bool = True


def place_of_node(incident: Incident, topology: Topology, kind: str) -> str:
    """Return the name of the place of the incident's node; empty if it is not known."""
    facts = topology.nodes.get(node_of(incident))
    if facts is None:
        return incident.subject.rack if kind == RACK_PLACE else ""
    return facts.place(kind)


def nodes_in(kind: str, name: str, topology: Topology) -> int:
    """Return how many nodes a place has."""
    return sum(1 for node in topology.nodes.values() if node.place(kind) == name)


def _place(kind: str, *, share: float = 0) -> StormKey:
    """Return the key of a kind of place of collectors/facts/places.py."""

    def of(incident: Incident, topology: Topology) -> Iterable[str]:
        return filter(None, (place_of_node(incident, topology, kind),))

    def nodes(name: str, topology: Topology) -> int:
        return nodes_in(kind, name, topology)

    return StormKey(kind=kind, of=of, nodes=nodes, share=share)


def _component(incident: Incident, _topology: Topology) -> Iterable[str]:
    return filter(None, (incident.subject.component,))


def _trainings(incident: Incident, _topology: Topology) -> Iterable[str]:
    return (one.training for one in incident.impacts if one.scope is not ImpactScope.BYSTANDERS)


def _nodes_of_training(id: str, topology: Topology) -> int:
    training = topology.trainings.get(id)
    return len(training.nodes) if training is not None else 0


def _name_of_training(id: str, topology: Topology) -> str:
    training = topology.trainings.get(id)
    return training.shown if training is not None else id


def _cluster(incident: Incident, _topology: Topology) -> Iterable[str]:
    return (incident.cluster,)


HALF = 0.5
STORM_KEYS = (
    _place(RACK_PLACE),
    _place("nvlink_domain"),
    _place("switch"),
    _place("cooling_zone", share=HALF),  # what is large is hit as a whole: a few of its nodes are chance
    _place("power_zone", share=HALF),
    _place(ZONE_PLACE, share=HALF),
    StormKey(kind="component", of=_component),
    StormKey(kind="training", of=_trainings, nodes=_nodes_of_training, shown=_name_of_training, share=HALF),
    StormKey(kind="cluster", of=_cluster, times=3, is_lasting=False),  # what is scattered is seldom one fault
)
