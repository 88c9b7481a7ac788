"""Nodes by their names within a query: where series of several exporters or jobs are compared. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from collectors.facts.labels import Labels
from collectors.sources.prometheus.dialects.families import Family, Role
from collectors.sources.prometheus.dialects.node_names import NodeNames
from collectors.sources.prometheus.dialects.promql_rewriting import LabelSource, SeriesGroup

MOST_NODES = 500  # with another name than their own: the query has a function for each


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
