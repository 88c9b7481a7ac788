"""The service's own metrics of an evaluation cycle."""

from collections.abc import Mapping, Sequence

from bot.evaluation.scheduler import EvaluationCycle
from bot.live_cluster import LiveCluster
from bot.metrics import Metrics
from collectors.check import SourceState


def export(
    metrics: Metrics,
    cluster: LiveCluster,
    cycle: EvaluationCycle,
    sources: Sequence[SourceState],
    *,
    alerts: Mapping[str, int],
    crowded: int,
    parents: int,
    blind_rules: int,
    unrecorded: int,
    took: float,
) -> None:
    """Set them. `alerts`: how many there are in each state. `crowded`: incidents. `parents`: open ones.

    `blind_rules`: of those in force. `unrecorded`: changes that wait for the store. `took`: seconds.
    """
    name = cluster.name
    for one in sources:
        metrics.source_up.labels(name, one.source).set(one.blind_for is None)
    for kind in cluster.cache.status() if cluster.cache is not None else ():
        metrics.unreadable_objects.labels(name, kind.kind).set(kind.unreadable)
        if kind.age is not None:
            metrics.watch_lag.labels(name, kind.kind).set(kind.age.total_seconds())
    for state, count in alerts.items():
        metrics.alerts.labels(name, state).set(count)
    metrics.crowded_incidents.labels(name).set(crowded)
    metrics.parent_incidents.labels(name).set(parents)
    metrics.blind_rules.labels(name).set(blind_rules)
    metrics.unrecorded_changes.labels(name).set(unrecorded)
    metrics.rule_evaluations.labels(name).inc(len(cycle.evaluated | cycle.blind.keys()))
    metrics.rule_evaluation_failures.labels(name).inc(len(cycle.blind))
    metrics.rule_evaluation_duration.labels(name).observe(took)
