"""Which labels of series name their node, and how well. Pure."""

from collections.abc import Iterable, Sequence

from collectors.facts.labels import Labels
from collectors.sources.prometheus.dialects.families import Family, Role, RoleLabels
from collectors.sources.prometheus.dialects.node_names import NodeNames
from collectors.sources.prometheus.dialects.other_nodes import INSTANCE, of_something_else

NO_NODES = frozenset({"__name__", "job", "endpoint", "container", "service", "namespace", INSTANCE})


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
