"""Alerts of the shipped rules, in the words of their packs."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from alerts.alert import Alert
from collectors.facts.labels import Labels
from collectors.facts.results import Sample
from collectors.facts.topology import Topology
from tests.alerts.packs.shipped import shipped_rules
from tests.support.alerting import NOON, a_renderer, an_alert

RULES = {rule.id: rule for rule in shipped_rules().values()}


def shipped_alert(
    name: str,
    on: Mapping[str, str],
    *,
    severity: str = "",
    value: float = 1,
    at: datetime = NOON,
    topology: Topology | None = None,
) -> Alert:
    """Return an alert of a shipped rule that fires for these labels, with the rule's severity if none is given."""
    rule = shipped_rules()[name]
    alert = an_alert(name, severity=severity or rule.template.labels["severity"], on=on, at=at)
    annotations = a_renderer(topology).annotations(rule, Sample(labels=Labels(on), value=value))
    return replace(alert, rule=rule.id, value=value, annotations=annotations)
