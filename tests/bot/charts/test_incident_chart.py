"""The query of an incident's chart, and the time that it covers."""

from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.incidents.incident import Incident
from alerts.lifecycle import AlertState
from bot.charts.incident_chart import ChartPlan, charted_members, plan_chart
from bot.charts.line_chart import alt_text
from collectors.facts.labels import Labels
from collectors.facts.queries import LogQuery, PromQLQuery
from collectors.facts.results import Series
from tests.support.alerting import a_rule
from tests.support.incidents import an_open_incident, resolved
from tests.support.log_matches import message
from tests.support.rows import NOON, an_alert

RULE = replace(a_rule(expr="temp > 83"), id="gpu/heat/GPUTemperatureHigh")
RULES = {RULE.id: RULE}
ALERT = an_alert("gpu-a04")


def plan(incident: Incident, *, now: object = NOON + timedelta(minutes=1)) -> ChartPlan | None:
    members = charted_members(incident, RULES)
    return plan_chart(incident, members, {ALERT.id: ALERT}, RULES, now)  # type: ignore[arg-type]


def test_the_last_hour_of_the_alerts_own_series_is_queried() -> None:
    found = plan(an_open_incident(ALERT))
    assert found is not None
    assert found.query.expr == (
        '(temp) and on (node) (label_replace(vector(1), "node", "gpu-a04", "node", ""))'
    )
    assert (found.end, found.end - found.start) == (NOON + timedelta(minutes=1), timedelta(hours=1))
    assert (found.threshold, found.comparison, found.fired, found.resolved) == (83, ">", NOON, None)


def test_the_chart_of_an_ended_incident_shows_all_of_it() -> None:
    over = resolved(an_open_incident(ALERT), after=timedelta(days=2))
    found = plan(over, now=NOON + timedelta(days=2, minutes=5))
    assert found is not None
    assert found.start == NOON - timedelta(minutes=15)
    assert found.end == NOON + timedelta(days=2, minutes=3)
    assert found.resolved == NOON + timedelta(days=2)
    assert (found.end - found.start) / found.step <= 130


def test_an_incident_of_log_lines_has_no_chart() -> None:
    rule = replace(
        RULE, query=LogQuery(match=message("Xid"), by=("node",), over=timedelta(minutes=5), above=0)
    )
    assert charted_members(an_open_incident(ALERT), {rule.id: rule}) == ()


def test_a_count_is_drawn_only_where_nothing_is_measured() -> None:
    several = replace(
        ALERT, rule="gpu/heat/GPUNodeHot", labels=Labels({"alertname": "GPUNodeHot", "severity": "critical"})
    )
    rule = replace(a_rule(expr="count by (node) (temp > 83) >= 3"), id=several.rule)
    incident = an_open_incident(several, ALERT)
    assert incident.lead.rule == several.rule
    assert [one.rule for one in charted_members(incident, {**RULES, rule.id: rule})] == [RULE.id]
    assert [one.rule for one in charted_members(incident, {rule.id: rule})] == [several.rule]


def test_the_most_severe_with_a_metric_is_drawn_where_the_lead_is_a_log_line() -> None:
    logged = replace(ALERT, rule="gpu/logs/Xid", labels=Labels({"alertname": "Xid", "severity": "critical"}))
    rule = replace(
        RULE, id=logged.rule, query=LogQuery(match=message("Xid"), by=(), over=timedelta(minutes=5), above=0)
    )
    incident = an_open_incident(logged, ALERT)
    assert incident.lead.rule == logged.rule
    members = charted_members(incident, {**RULES, rule.id: rule})
    assert [one.rule for one in members] == [RULE.id]


def test_members_that_are_not_drawn_are_counted() -> None:
    incident = an_open_incident(ALERT)
    many = tuple(
        replace(incident.members[0], alert=f"a{number}", state=AlertState.FIRING) for number in range(11)
    )
    alerts = {one.alert: replace(ALERT, labels=Labels({"gpu": one.alert})) for one in many}
    found = plan_chart(incident, many, alerts, RULES, NOON)
    assert found is not None
    assert found.more == 3
    assert found.query.expr.count("vector(1)") == 8


def test_there_is_no_chart_without_values() -> None:
    found = plan(an_open_incident(ALERT))
    assert found is not None
    assert found.chart([]) is None
    assert found.chart([Series(labels=Labels({}), points=((1.0, float("nan")),))]) is None


@pytest.mark.parametrize(
    ("summary", "unit", "value", "threshold"),
    [
        ("It fails for {{ $value | humanizePercentage }} of requests.", "%", 12.5, 3),
        ('It is hot: {{ $value | printf "%.0f" }} °C.', "°C", 0.125, 0.03),
        ("{{ $labels.instance }}: {{ $value }}%", "%", 0.125, 0.03),
        ("It takes {{ $value | humanizeDuration }}.", "s", 0.125, 0.03),
        ("It has {{ $value }} errors of {{ $labels.all }}.", "", 0.125, 0.03),
        ("", "", 0.125, 0.03),
    ],
)
def test_a_chart_has_the_unit_of_the_sentence(
    summary: str, unit: str, value: float, threshold: float
) -> None:
    template = replace(RULE.template, annotations={"summary": summary})
    rule = replace(RULE, query=PromQLQuery(expr="part > 0.03"), template=template)
    rules = {rule.id: rule}
    incident = an_open_incident(ALERT)
    members = charted_members(incident, rules)
    found = plan_chart(incident, members, {ALERT.id: ALERT}, rules, NOON + timedelta(minutes=1))
    assert found is not None

    chart = found.chart([Series(labels=Labels({}), points=((NOON.timestamp(), 0.125),))])

    assert chart is not None
    assert (chart.unit, chart.lines[0].points[0][1], chart.threshold) == (unit, value, threshold)
    said = f"{threshold} {unit}".strip()
    assert f"It fires above {said}." in alt_text(chart)
