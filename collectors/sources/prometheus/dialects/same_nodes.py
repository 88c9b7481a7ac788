"""Nodes that several series name: copies by two scrape jobs, and exporters that a query compares. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from collectors.facts.labels import Labels
from collectors.sources.prometheus.dialects.families import INSTANCE, TARGETS, Family, Role
from collectors.sources.prometheus.dialects.node_names import NodeNames
from collectors.sources.prometheus.dialects.query_rewriting import LabelSource, SeriesGroup

MOST_NODES = 500  # with another name than their own: the query has a function for each
_JOB = "job"
_MOSTLY = 0.5  # of what the job with less has

_Thing = tuple[str, str, str]  # a metric, its node, its GPU


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """The labels in which series differ that are there twice. `names` are the labels that name their nodes."""

    labels: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    has_addresses: bool = False  # each its own

    def of_nodes(self, groups: Sequence[SeriesGroup], family: Family) -> tuple[SeriesGroup, ...]:
        """Return the groups with one name for a host that has several addresses."""
        if not (family.is_on_host and self.has_addresses):
            return tuple(groups)
        labels = family.labels_of(Role.NODE)
        anew = tuple(LabelSource(label=label, names=(*self.names, INSTANCE)) for label in labels)
        return tuple(
            replace(group, labels=(*anew, *(one for one in group.labels if one.label not in labels)))
            for group in groups
        )


NO_COPIES = Copies()


def copies_of(family: Family, series: Sequence[Labels], names: Sequence[str], nodes: NodeNames) -> Copies:
    """Return what tells copies apart: series of two jobs about the same nodes and GPUs.

    `series` are those of one moment, `names` the labels that name their nodes.
    """
    if family is TARGETS or not (family.is_on_node or family.is_on_host):
        return NO_COPIES
    jobs: dict[str, dict[_Thing, Labels]] = {}
    gpu = tuple(
        name for role in (Role.UUID, Role.GPU) if role in family.roles for name in family.roles[role].names
    )
    for one in series:
        if node := next((node for name in (*names, INSTANCE) if (node := nodes.of(one.get(name, "")))), ""):
            thing = one.get("__name__", ""), node, next((one[name] for name in gpu if name in one), "")
            jobs.setdefault(one.get(_JOB, ""), {}).setdefault(thing, one)
    differing = _differing(list(jobs.values()))
    known = {known.label for known in family.roles.values()} | ({"node"} if family.is_on_host else set())
    return Copies(
        labels=tuple(sorted(differing - known)), names=tuple(names), has_addresses=INSTANCE in differing
    )


def _differing(jobs: Sequence[Mapping[_Thing, Labels]]) -> set[str]:
    found: set[str] = set()
    for number, one in enumerate(jobs):
        for other in jobs[number + 1 :]:
            both = one.keys() & other.keys()
            if len(both) > _MOSTLY * min(len(one), len(other)):
                pairs = [(one[thing], other[thing]) for thing in both]
                found |= {
                    name
                    for pair in pairs
                    for name in {*pair[0], *pair[1]}
                    if len({each.get(name) for each in pair}) > 1
                }
    return found


def compares_nodes(families: Iterable[Family]) -> bool:
    """Whether a query for these families is about nodes that several exporters name."""
    return sum(one.is_on_node or one.is_on_host for one in families) > 1


def with_names(
    groups: Sequence[SeriesGroup], family: Family, series: Iterable[Labels], nodes: NodeNames
) -> tuple[SeriesGroup, ...]:
    """Return the groups with the names of nodes for the values that their series have instead, such as addresses."""
    names = family.labels_of(Role.NODE)
    known = tuple(series)
    return tuple(
        replace(
            group,
            labels=tuple(_named(one, known, nodes) if one.label in names else one for one in group.labels),
        )
        for group in groups
    )


def _named(source: LabelSource, series: Iterable[Labels], nodes: NodeNames) -> LabelSource:
    values: dict[str, set[str]] = {}
    for labels in series:
        value = next((labels[name] for name in source.names if name in labels), "")
        if value and not nodes.is_node(value) and (node := nodes.of(value)):
            values.setdefault(node, set()).add(value)
    if len(values) > MOST_NODES:
        return source
    named = ((node, "|".join(map(re.escape, sorted(some)))) for node, some in sorted(values.items()))
    return replace(source, named=tuple(named))
