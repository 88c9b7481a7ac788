"""This file judges one observation by one shipped rule until its patience is over."""

from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.engine import Judgement, Known, judge
from alerts.rules import Rule
from alerts.wording import RuleWording
from collectors.facts.samples import Observation
from collectors.facts.topology import Topology

WORDING = RuleWording(lambda: Topology(cluster="prod-a"), clean=lambda text: text)


def once(rule: Rule, known: Known, observation: Observation, now: datetime) -> Judgement:
    return judge(rule, known, observation, cluster="prod-a", wording=WORDING, now=now)


def fired(rule: Rule, observation: Observation, now: datetime) -> tuple[Alert, ...]:
    """The alerts that fire when the same is seen from `now` until the rule's patience is over."""
    pending = once(rule, {}, observation, now)
    later = once(rule, pending.alerts, observation, now + rule.patience.hold + timedelta(seconds=1))
    assert not later.blind
    return tuple(alert for alert in later.alerts.values() if alert.is_firing)
