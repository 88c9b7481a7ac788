"""Evaluation of one query result by one shipped rule until its alerts fire."""

from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.engine import Known, RuleEvaluation, evaluate
from alerts.rendering import RuleRenderer
from alerts.rules import Rule
from collectors.facts.results import QueryResult
from collectors.facts.stepwise import result_of
from collectors.facts.topology import Topology

RENDERER = RuleRenderer(lambda: Topology(cluster="prod-a"), clean=lambda text: text)


def once(rule: Rule, known: Known, result: QueryResult, now: datetime) -> RuleEvaluation:
    return result_of(evaluate(rule, known, result, cluster="prod-a", renderer=RENDERER, now=now))


def fired(rule: Rule, result: QueryResult, now: datetime) -> tuple[Alert, ...]:
    """Return the alerts that fire if the result stays the same from `now` until the rule's `for` is over."""
    pending = once(rule, {}, result, now)
    later = once(rule, pending.alerts, result, now + rule.timing.for_ + timedelta(seconds=1))
    assert not later.blind
    return tuple(alert for alert in later.alerts.values() if alert.is_firing)
