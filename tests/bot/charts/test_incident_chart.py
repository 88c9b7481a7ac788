"""The query of an incident's chart, and the time that it covers."""

from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.incidents.incident import Incident
from alerts.lifecycle import AlertState
from bot.charts.incident_chart import ChartPlan, chart_plans, charted_members
from bot.charts.line_chart import Chart, alt_text
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


def a_series(*values: float, **labels: str) -> Series:
    points = tuple((NOON.timestamp() + 15 * number, value) for number, value in enumerate(values))
    return Series(labels=Labels(labels), points=points)


def plan(incident: Incident, *, now: object = NOON + timedelta(minutes=1)) -> ChartPlan | None:
    members = charted_members(incident, RULES)
    found = chart_plans(incident, members, {ALERT.id: ALERT}, RULES, now)  # type: ignore[arg-type]
    return next(iter(found), None)


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
    assert (found.end - found.start) / found.step <= 250


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
    (found,) = chart_plans(incident, many, alerts, RULES, NOON)
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
    (found,) = chart_plans(incident, members, {ALERT.id: ALERT}, rules, NOON + timedelta(minutes=1))

    chart = found.chart([a_series(0.125, 0.02, 0.1)])

    assert chart is not None
    assert (chart.unit, chart.lines[0].points[0][1], chart.threshold) == (unit, value, threshold)
    said = f"{threshold} {unit}".strip()
    assert f"It fires above {said}." in alt_text(chart)


def drawn(expr: str, *series: Series) -> Chart | None:
    """Return the chart of a rule with that expression, of the query of its first plan."""
    rule = replace(RULE, query=PromQLQuery(expr=expr))
    incident = an_open_incident(ALERT)
    plans = chart_plans(incident, incident.members, {ALERT.id: ALERT}, {rule.id: rule}, NOON)
    return plans[0].chart(series)


@pytest.mark.parametrize(
    ("values", "is_drawn"),
    [
        pytest.param((60, 62, 91), True, id="a course that crosses the limit"),
        pytest.param((91, 91, 91), True, id="always above the limit"),
        pytest.param((0, 0, 0), False, id="a flat zero"),
        pytest.param((60, 62, 61), False, id="the peak was between two steps"),
        pytest.param((60, 91), False, id="two dots"),
    ],
)
def test_a_chart_that_does_not_show_why_it_fired_is_not_drawn(
    values: tuple[float, ...], is_drawn: bool
) -> None:
    assert (drawn("temp > 83", a_series(*values)) is not None) is is_drawn


@pytest.mark.parametrize(
    ("expr", "values", "shown"),
    [
        ("kubelet_volume_stats_used_bytes < 5e9", (3.2e12, 3.1e12, 2**32), "Lowest 0.003906 TiB"),
        ("max by (node) (free_bytes) < 9e9", (3 * 2**30, 8 * 2**30, 2**32), "Lowest 3 GiB"),
        ("rate(sent_bytes_total[5m]) > 1e6", (2**22, 2**23, 2**21), "highest 8 MiB/s"),
        ("time() - last_seconds > 60", (7200, 7260, 7320), "highest 2.033 h"),
        ("sent_bytes / received_bytes > 1", (2, 3, 4), "highest 4, last"),
        ("count(free_bytes < 5) > 1", (2, 3, 4), "highest 4, last"),
    ],
)
def test_the_axis_has_the_unit_of_the_metrics(expr: str, values: tuple[float, ...], shown: str) -> None:
    chart = drawn(expr, a_series(*values))
    assert chart is not None
    assert shown in alt_text(chart)


def test_a_state_and_an_event_have_no_chart() -> None:
    incident = an_open_incident(ALERT)
    state = replace(RULE, query=PromQLQuery(expr="up == 0"))
    event = replace(incident, members=(replace(incident.members[0], xid=79),))

    assert charted_members(incident, {RULE.id: state}) == ()
    assert charted_members(event, RULES) == ()
    assert charted_members(incident, RULES) != ()


def test_of_two_makes_the_one_with_values_is_drawn() -> None:
    rule = replace(RULE, query=PromQLQuery(expr="a > 83 or b > 95"))
    incident = an_open_incident(ALERT)
    first, second = chart_plans(incident, incident.members, {ALERT.id: ALERT}, {rule.id: rule}, NOON)

    assert (first.threshold, second.threshold) == (83, 95)
    assert first.query.expr.startswith("(a) and on")
    assert second.query.expr.startswith("(b) and on")
