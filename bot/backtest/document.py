"""The findings of a backtest as one JSON document for programs. Times are ISO 8601 in UTC."""

from collections.abc import Sequence

from alerts.rules import Rule
from bot.backtest.cluster_backtest import ClusterBacktest


def backtest_document(
    found: Sequence[ClusterBacktest], not_replayed: Sequence[Rule], errors: Sequence[str]
) -> dict[str, object]:
    """Return each cluster's alerts, the number of alerts of each rule, and when nothing was recorded."""
    return {
        "clusters": [_cluster(one) for one in found],
        "not_replayable": [rule.name for rule in not_replayed],
        "errors": list(errors),
    }


def _cluster(found: ClusterBacktest) -> dict[str, object]:
    return {
        "cluster": found.cluster,
        "start": found.period.start.isoformat(),
        "end": found.period.end.isoformat(),
        "alerts": [
            {
                "rule": alert.rule,
                "labels": dict(alert.labels),
                "started": alert.started.isoformat(),
                "ended": alert.ended.isoformat() if alert.ended else None,
                "peak": alert.peak,
            }
            for alert in found.alerts
        ],
        "rules": [
            {"rule": one.rule.name, "alerts": len(one.alerts), "unusable": one.unusable}
            for one in found.rules
        ],
        "failed": found.failed,
        "nothing_recorded": [
            {"start": span.start.isoformat(), "end": span.end.isoformat()} for span in found.blind
        ],
    }
