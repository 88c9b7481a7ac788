"""Rules for degrees of one fault say it once: the gravest that stands, and the milder one again once that is over."""

from dataclasses import replace
from datetime import datetime

import pytest

from alerts.alert import Alert
from alerts.cards.headline import headline
from alerts.cards.incident_card import incident_card
from alerts.incidents.grouping import GroupingContext, open_incident, resolve_if_over
from alerts.incidents.incident import Incident
from alerts.rules import Rule
from tests.support.alerting import NOON, a_rule, a_topology, an_alert, minutes, resolved
from tests.support.grouping import add_alert
from tests.support.shown import lines_of


def a_degree(name: str) -> Rule:
    made = a_rule(name)
    return replace(made, template=replace(made.template, ladder="errors"))


RULES = [a_degree("ErrorsHigh"), a_degree("ErrorsCritical"), a_rule("Slow")]
CONTEXT = GroupingContext(rules={rule.id: rule for rule in RULES}, topology=a_topology())


def alert_of(name: str, severity: str, zone: str = "a", component: str = "dns") -> Alert:
    summary = f"{name} of zone {zone}."
    return an_alert(name, severity=severity, summary=summary, zone=zone, component=component)


HIGH, CRITICAL = alert_of("ErrorsHigh", "warning"), alert_of("ErrorsCritical", "critical")
SLOW = alert_of("Slow", "warning")


def incident_of(*alerts: Alert, at: datetime = NOON) -> Incident:
    incident = open_incident("i1", alerts[0], channels=("C1",), now=NOON)
    for alert in alerts:
        incident = add_alert(incident, alert, CONTEXT, at)
    return incident


def said(incident: Incident) -> str:
    return "\n".join(lines_of(incident_card(incident, now=NOON + minutes(9))))


def test_the_milder_degree_is_not_said_while_the_graver_stands() -> None:
    incident = incident_of(HIGH, CRITICAL, SLOW)
    assert headline(incident) == "ErrorsCritical of zone a, and 1 other alert"
    assert "Slow of zone a" in said(incident)
    assert "ErrorsHigh" not in said(incident)


def test_it_is_said_again_once_the_graver_is_over() -> None:
    later = NOON + minutes(5)
    incident = add_alert(incident_of(HIGH, CRITICAL), resolved(CRITICAL, later), CONTEXT, later)
    assert headline(incident) == "ErrorsHigh of zone a"


def test_a_milder_degree_that_is_over_is_not_said_beside_the_graver() -> None:
    later = NOON + minutes(5)
    incident = add_alert(incident_of(HIGH, CRITICAL), resolved(HIGH, later), CONTEXT, later)
    assert "ErrorsHigh" not in said(incident)


def test_a_milder_degree_of_another_series_is_said() -> None:
    other = alert_of("ErrorsHigh", "warning", zone="b")
    assert "ErrorsHigh of zone b" in said(incident_of(other, CRITICAL))


def test_once_all_is_over_the_fault_is_said_once() -> None:
    incident = incident_of(HIGH, CRITICAL)
    later = NOON + minutes(5)
    for alert in (CRITICAL, HIGH):
        incident = add_alert(incident, resolved(alert, later), CONTEXT, later)
    over = resolve_if_over(incident, later)
    assert not over.is_open
    assert "ErrorsHigh" not in said(over)


@pytest.mark.parametrize("order", [(HIGH, CRITICAL), (CRITICAL, HIGH)], ids=["rises", "falls"])
def test_the_order_in_which_they_fire_does_not_matter(order: tuple[Alert, ...]) -> None:
    assert "ErrorsHigh" not in said(incident_of(*order))
