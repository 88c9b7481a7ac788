"""Ladders: rules for degrees of one fault. Of the alerts of one series only the gravest that stands is said. Pure.

The milder ones are members as any other, and are said again once the graver one is over.
"""

from alerts.alert import Alert
from alerts.incidents.incident import Incident, Member, explains_most
from alerts.rules import Rule


def ladder_of(alert: Alert, rule: Rule | None) -> str:
    """Return the ladder of its rule and the series that it is about; empty if its rule is of none."""
    if rule is None or not rule.template.ladder:
        return ""
    return f"{rule.template.ladder}/{alert.labels.without('alertname', 'severity').key}"


def implied(incident: Incident) -> frozenset[str]:
    """Return the ids of the alerts that a graver one of their series says already."""
    ladders: dict[str, list[Member]] = {}
    for member in incident.members:
        if member.ladder:
            ladders.setdefault(member.ladder, []).append(member)
    return frozenset(
        one.alert
        for members in ladders.values()
        if len(members) > 1
        for one in sorted(members, key=lambda one: (not incident.stands(one), explains_most(one)))[1:]
    )
