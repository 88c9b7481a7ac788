"""Outages of nodes are read from their incidents: how often each broke, and how long it stood broken."""

from dataclasses import replace

from alerts.incidents.grouping import GroupingContext, open_incident, resolve_if_over
from alerts.incidents.incident import Incident
from alerts.incidents.outages import median_repairs, outages_of
from tests.support.alerting import NOON, a_rule, a_topology, an_alert, minutes, resolved
from tests.support.grouping import add_alert

RULE = a_rule("GPUMissing")
GROUPING = GroupingContext(rules={RULE.id: RULE}, topology=a_topology())


def an_outage(node: str, *, began: float, lasted: float | None, severity: str = "critical") -> Incident:
    at = NOON + minutes(began)
    alert = an_alert("GPUMissing", severity=severity, at=at, on={"node": node})
    incident = add_alert(
        open_incident(f"{node} {began}", alert, channels=("C1",), now=at), alert, GROUPING, at
    )
    if lasted is None:
        return incident
    end = at + minutes(lasted)
    return resolve_if_over(add_alert(incident, resolved(alert, end), GROUPING, end), end)


def again(incident: Incident, *, began: float) -> Incident:
    """Return the incident reopened."""
    at = NOON + minutes(began)
    alert = an_alert("GPUMissing", severity="critical", at=at, on={"node": incident.subject.node})
    return add_alert(incident, alert, GROUPING, at)


def test_an_incident_that_is_reopened_is_two_outages() -> None:
    outages = outages_of([again(an_outage("gpu-a01", began=0, lasted=20), began=25)])
    assert [(one.began, one.ended) for one in outages] == [
        (NOON, NOON + minutes(20)),
        (NOON + minutes(25), None),
    ]


def test_the_median_repair_leaves_out_what_still_stands() -> None:
    lasted = (10, 20, 90, None)
    outages = outages_of(
        [an_outage("gpu-a01", began=100 * count, lasted=one) for count, one in enumerate(lasted)]
    )
    assert median_repairs(outages) == {"GPUMissing": minutes(20)}


def test_a_warning_and_a_crash_of_a_training_broke_no_node() -> None:
    crash = replace(an_outage("gpu-a02", began=0, lasted=5), crash_of="vision/detr")
    assert outages_of([an_outage("gpu-a01", began=0, lasted=5, severity="warning"), crash]) == []
