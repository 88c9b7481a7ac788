"""Ranks of the labels that name the node of a series: which of them name it, and how well. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from collectors.facts.labels import Labels
from collectors.sources.prometheus.dialects.families import INSTANCE, TARGETS, Family, Role, RoleLabels
from collectors.sources.prometheus.dialects.node_names import NodeNames
from collectors.sources.prometheus.dialects.query_rewriting import LabelSource

NO_NODES = frozenset({"__name__", "job", "endpoint", "container", "service", "namespace", INSTANCE})
_NODE = "node"  # the packs keep it beside the address
_PLAIN = tuple(LabelSource(label=label, names=(label,)) for label in (INSTANCE, _NODE))

_Places = Sequence[tuple[Labels, str]]
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


class NodeRanks:
    """The labels that name the node, ranked by how many of their values do.

    A value may be the name of a node, or lead to one; while no node is known, the usual labels are believed. A label
    that names the node of something else, such as the scraper's, is no better than none. `fresh` are the series of
    one moment.
    """

    def __init__(
        self,
        family: Family,
        series: Sequence[Labels],
        nodes: NodeNames | None,
        fresh: Sequence[Labels] | None = None,
    ) -> None:
        self._family = family
        self._nodes = nodes
        role = family.roles.get(Role.NODE, RoleLabels(label="", names=()))
        self._label = role.label
        self._usual = role.names
        other = {name for known in family.roles.values() for name in known.names} | NO_NODES
        unusual = {name for labels in series for name in labels} - other
        candidates = (*self._usual, INSTANCE, *sorted(unusual if nodes else ()))
        self._order = {name: number for number, name in enumerate(candidates)}
        values = {name: {labels[name] for labels in series if name in labels} for name in candidates}
        self._share = {name: self._shares(name, found) for name, found in values.items() if found}
        self._elsewhere: frozenset[str] = frozenset()
        if nodes is not None:
            leading = [name for name in self._share if self._accepts(name)]
            self._elsewhere = of_something_else(family, series if fresh is None else fresh, leading, nodes)

    def _shares(self, name: str, values: set[str]) -> tuple[float, float]:
        """Return the shares of values that are names of nodes, and that lead to one."""
        if self._nodes is None:
            own = sum(self._family.is_own(value) for value in values)
            return (1.0, 1.0) if name in self._usual and not own else (0.0, 0.0)
        direct = sum(self._nodes.is_node(value) for value in values)
        if name not in self._usual and name != INSTANCE:
            leads = all(map(self._nodes.of_host, values))
            return (direct / len(values), 1.0) if leads else (0.0, 0.0)
        return direct / len(values), sum(bool(self._nodes.of(value)) for value in values) / len(values)

    def ordered(self, label: str, names: Iterable[str]) -> tuple[str, ...]:
        """Return the names that a label comes from, best first."""
        if label == self._label or self._family.is_on_host:
            key = self._rank
            last = [name for name in names if name == INSTANCE][:1]
            return (*sorted(set(names) - {INSTANCE}, key=key), *last)
        known = next(one.names for one in self._family.roles.values() if one.label == label)
        return tuple(sorted(set(names), key=lambda name: known.index(name) if name in known else -1))

    def _rank(self, name: str) -> tuple[float, float, int]:
        direct, leads = self._share.get(name, (0.0, 0.0))
        return -round(direct, 1), -round(leads, 1), self._order.get(name, len(self._order))

    def names(self, series: Sequence[Labels]) -> tuple[str, ...]:
        """Return the labels of these series that name the node, best first; the target's address at the end.

        The label of the packs alone is enough where each series has it with the name of a node.
        """
        if self._label not in self._elsewhere and all(
            self._is_named(labels.get(self._label, "")) for labels in series
        ):
            return (self._label,)
        accepted = [
            name for name in self._share if self._accepts(name) and any(name in one for one in series)
        ]
        rest = [name for name in self._believed if any(name in one for one in series)] if not accepted else []
        return self.ordered(self._label, (*accepted, *rest, INSTANCE))

    def naming(self, series: Sequence[Labels]) -> tuple[str, ...]:
        """Return the labels of these series that name nodes, best first, without the target's address."""
        found = [name for name in self._share if self._accepts(name) and any(name in one for one in series)]
        return tuple(sorted(set(found) - {INSTANCE}, key=self._rank))

    def rejected(self, series: Sequence[Labels]) -> frozenset[str]:
        """Return the labels of these series that mean something else than their node."""
        return frozenset(
            name for name in self._order if any(name in one for one in series) and not self._accepts(name)
        ) - {INSTANCE}

    def names_a_host(self, series: Sequence[Labels]) -> bool:
        """Whether a label names the node of any of the series, or a host that the cluster does not know."""
        if any(self._accepts(name) for name in self._share):
            return True
        values = (labels[name] for labels in series for name in self._believed if name in labels)
        return any(not self._family.is_own(value) for value in values)

    @property
    def _believed(self) -> tuple[str, ...]:
        return tuple(name for name in self._usual if name not in self._elsewhere)

    def _accepts(self, name: str) -> bool:
        return name not in self._elsewhere and self._share.get(name, (0.0, 0.0))[1] >= 0.5

    def _is_named(self, value: str) -> bool:
        if self._nodes is None:
            return bool(value) and not self._family.is_own(value)
        return self._nodes.is_node(value)


def host_labels(
    series: Sequence[Labels], ranks: NodeRanks, nodes: NodeNames | None
) -> tuple[LabelSource, ...]:
    """Return where the address and the node of these series come from.

    They stay where they lead to the node that the series name, or where nothing names one: the host may be outside of
    the cluster. Elsewhere both become the node, because the packs join by the address too.
    """
    names = ranks.naming(series)
    if nodes is None or _are_right(series, names, nodes):
        return _PLAIN
    return tuple(LabelSource(label=label, names=(*names, INSTANCE)) for label in (INSTANCE, _NODE))


def _are_right(series: Sequence[Labels], names: Sequence[str], nodes: NodeNames) -> bool:
    """Whether each host has an address of its own, and `node`, or else the address, leads to where the others do."""
    hosts: dict[str, str] = {}
    for labels in series:
        address = labels.get(INSTANCE, "")
        named = next((node for name in (*names, INSTANCE) if (node := nodes.of(labels.get(name, "")))), "")
        found = nodes.of(labels.get(_NODE, address))
        if nodes.learned(address) and not nodes.of_host(address):  # nothing else leads there from the address
            return False
        if "/" in address and nodes.of_host(address):  # a URL, which an alert takes for what was probed
            return False
        if named and (found != named or hosts.setdefault(address, named) != named):
            return False
    return True
