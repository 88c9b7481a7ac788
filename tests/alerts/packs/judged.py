"""This file judges one observation by one shipped rule until its patience is over."""

from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.engine import Known, RuleEvaluation, evaluate
from alerts.rendering import RuleRenderer
from alerts.rules import Rule
from collectors.facts.results import QueryResult
from collectors.facts.topology import Topology

WORDING = RuleRenderer(lambda: Topology(cluster="prod-a"), clean=lambda text: text)


def once(rule: Rule, known: Known, result: QueryResult, now: datetime) -> RuleEvaluation:
    return evaluate(rule, known, result, cluster="prod-a", renderer=WORDING, now=now)


def fired(rule: Rule, result: QueryResult, now: datetime) -> tuple[Alert, ...]:
    """The alerts that fire when the same is seen from `now` until the rule's patience is over."""
    pending = once(rule, {}, result, now)
    later = once(rule, pending.alerts, result, now + rule.timing.for_ + timedelta(seconds=1))
    assert not later.blind
    return tuple(alert for alert in later.alerts.values() if alert.is_firing)
