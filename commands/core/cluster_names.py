"""The names of a cluster that a typed line may have, as far as the cluster can be seen."""

from collections.abc import Iterable, Mapping, Sequence

from alerts.rules import Rule
from alerts.runbooks import runbook_names
from collectors.cluster.kinds import PERSISTENT_VOLUME_CLAIMS
from collectors.facts.results import SourceError
from commands.core.context import Cluster
from commands.core.matching.known_names import KnownNames
from commands.core.parameter_types import NameKind


def names_of(cluster: Cluster | None, rules: Mapping[str, Rule], teams: Iterable[str]) -> KnownNames:
    """Return the names of what lines are about, from nodes to runbooks. What cannot be seen has none."""
    return KnownNames(
        {
            NameKind.NODE: _nodes(cluster),
            NameKind.RACK: _racks(cluster),
            NameKind.TRAINING: _trainings(cluster),
            NameKind.VOLUME: _volumes(cluster),
            NameKind.POD: _pods(cluster),
            NameKind.ALERT: tuple(dict.fromkeys(rule.name for rule in rules.values())),
            NameKind.TEAM: tuple(teams),
            NameKind.RUNBOOK: runbook_names(),
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


def _volumes(cluster: Cluster | None) -> Sequence[str]:
    """Return the claims: people know their volume by it."""
    if cluster is None:
        return ()
    try:
        return tuple(cluster.inventory().all(PERSISTENT_VOLUME_CLAIMS))
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
