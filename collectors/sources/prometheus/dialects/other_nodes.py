"""Labels that name nodes, but not those of their series: the scraper's, or what several nodes share. Pure."""

from collections.abc import Callable, Mapping, Sequence

from collectors.facts.labels import Labels
from collectors.sources.prometheus.dialects.families import TARGETS, Family, Role
from collectors.sources.prometheus.dialects.node_names import NodeNames

INSTANCE = "instance"  # the target's address: it tells exporters apart where nothing names their nodes

_Thing = Callable[[Labels], tuple[str, str]]


def of_something_else(
    family: Family, series: Sequence[Labels], names: Sequence[str], nodes: NodeNames
) -> frozenset[str]:
    """Return those of these labels whose values are the nodes of something else.

    Facts decide: a pod that holds a GPU of the series runs on another node; one slot of a node would hold several GPUs
    at once; one host would have several addresses; or another label tells more nodes apart.
    """
    places = {
        name: [(one, node) for one in series if (node := nodes.of(one.get(name, "")))] for name in names
    }
    others = {
        name
        for name, found in places.items()
        if _contradicts_pods(family, found, nodes)
        or _shares_slots(family, found, of_address=name == INSTANCE)
    }
    finest = sorted(places.keys() - others, key=lambda name: -_nodes_in(places[name]))
    for number, name in enumerate(finest):
        if any(_is_coarser(places[name], places[finer]) for finer in finest[:number]):
            others.add(name)
    return frozenset(others)


_Places = Sequence[tuple[Labels, str]]


def _nodes_in(places: _Places) -> int:
    return len({node for _, node in places})


def _contradicts_pods(family: Family, places: _Places, nodes: NodeNames) -> bool:
    """Whether pods that hold GPUs run elsewhere."""
    if Role.GPU not in family.roles:
        return False
    pods, namespaces = (family.roles[role].names for role in (Role.POD, Role.NAMESPACE))
    pairs = tuple(zip(namespaces, pods, strict=True))
    known = [
        (node, holder)
        for labels, node in places
        for namespace, pod in pairs
        if (holder := nodes.of_holder(labels.get(namespace, ""), labels.get(pod, "")))
    ]
    return sum(node != holder for node, holder in known) * 2 > len(known)


def _shares_slots(family: Family, places: _Places, *, of_address: bool) -> bool:
    """Whether most slots of a node hold several GPUs, or a node has three addresses and more."""
    if Role.GPU in family.roles:
        found = _held(
            places, lambda labels: (_first(labels, family, Role.GPU), _first(labels, family, Role.UUID))
        )
        return sum(len(some) > 1 for some in found.values()) * 2 > len(found)
    if of_address or not family.is_on_host or family is TARGETS:
        return False
    found = _held(places, lambda labels: (labels.get("job", ""), labels.get(INSTANCE, "")))
    return bool(found) and sum(map(len, found.values())) > 2 * len(found)


def _held(places: _Places, thing: _Thing) -> Mapping[tuple[str, str], set[str]]:
    """Return what each node has in each slot."""
    found: dict[tuple[str, str], set[str]] = {}
    for labels, node in places:
        slot, held = thing(labels)
        if slot and held:
            found.setdefault((node, slot), set()).add(held)
    return found


def _first(labels: Labels, family: Family, role: Role) -> str:
    return next((labels[name] for name in family.roles[role].names if labels.get(name)), "")


def _is_coarser(places: _Places, others: _Places) -> bool:
    """Whether the other label tells more nodes apart on the series of both, and names others for half of them."""
    mine = dict(places)
    both = [(mine[labels], node) for labels, node in others if labels in mine]
    if len({node for node, _ in both}) >= len({node for _, node in both}):
        return False
    return sum(one != other for one, other in both) * 2 >= len(both)
