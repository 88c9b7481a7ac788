"""The names of a cluster that a typed line may have, as far as the cluster can be seen."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from alerts.rules import Rule
from alerts.runbooks import runbook_names
from collectors.cluster.kinds import DAEMONSETS, NAMESPACES, PERSISTENT_VOLUME_CLAIMS, ResourceKind
from collectors.facts.results import SourceError
from commands.core.context import Cluster, Defaults
from commands.core.matching.known_names import KnownNames
from commands.core.parameter_types import NameKind


def names_of(
    cluster: Cluster | None, rules: Mapping[str, Rule], teams: Iterable[str], defaults: Defaults
) -> KnownNames:
    """Return the names of what lines are about, from nodes to people. What cannot be seen has none."""
    return KnownNames(
        {
            NameKind.NODE: _nodes(cluster),
            NameKind.RACK: _racks(cluster),
            NameKind.TRAINING: _trainings(cluster),
            # People know their volume by its claim.
            NameKind.VOLUME: _objects(cluster, PERSISTENT_VOLUME_CLAIMS),
            NameKind.NAMESPACE: _objects(cluster, NAMESPACES),
            NameKind.AGENT: _objects(cluster, DAEMONSETS),
            NameKind.POD: _pods(cluster),
            NameKind.ALERT: tuple(dict.fromkeys(rule.name for rule in rules.values())),
            NameKind.TEAM: tuple(teams),
            NameKind.RUNBOOK: runbook_names(),
            NameKind.PERSON: tuple(defaults.owners),
            NameKind.REPAIR: tuple(defaults.repairs),
        }
    )


def _nodes(cluster: Cluster | None) -> Sequence[str]:
    if cluster is None:
        return ()
    try:
        return tuple(cluster.inventory().nodes)
    except SourceError:
        return ()


def _racks(cluster: Cluster | None) -> Sequence[str]:
    nodes = cluster.topology().nodes.values() if cluster is not None else ()
    return tuple(dict.fromkeys(node.rack for node in nodes if node.rack))


def _objects(cluster: Cluster | None, kind: ResourceKind[Any]) -> Sequence[str]:
    if cluster is None:
        return ()
    try:
        return tuple(cluster.inventory().all(kind))
    except SourceError:
        return ()


def _pods(cluster: Cluster | None) -> Sequence[str]:
    if cluster is None:
        return ()
    try:
        return tuple(cluster.inventory().pods)
    except SourceError:
        return ()


def _trainings(cluster: Cluster | None) -> Sequence[str]:
    if cluster is None:
        return ()
    try:
        return tuple(training.typed for training in cluster.trainings())
    except SourceError:
        return ()
