"""The chart of an incident: which query is drawn, over which time, and the lines that come of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.incidents.incident import Incident, Member
from alerts.rules import Rule
from bot.charts.chart_query import chart_query, series_of
from bot.charts.line_chart import MAX_LINES, Chart, named_lines
from bot.charts.threshold import drawn
from bot.charts.value_unit import ValueUnit, value_unit
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Series

WINDOW = timedelta(hours=1)
LEAD = timedelta(minutes=15)  # shown before an incident that lasted longer
POINTS = 120
SHORTEST_STEP = timedelta(seconds=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartPlan:
    """The query of an incident's chart, and what the chart says besides its result."""

    query: PromQLQuery
    start: datetime
    end: datetime
    step: timedelta
    fired: datetime
    resolved: datetime | None
    threshold: float | None
    comparison: str
    more: int
    unit: ValueUnit

    def chart(self, series: Sequence[Series]) -> Chart | None:
        """Return the chart of the query's result; None without a value."""
        lines = tuple(self.unit.of_line(line) for line in named_lines(series))
        if not lines:
            return None
        return Chart(
            lines=lines,
            start=self.start.timestamp(),
            end=self.end.timestamp(),
            step=self.step.total_seconds(),
            fired=self.fired.timestamp(),
            resolved=self.resolved.timestamp() if self.resolved else None,
            threshold=self.threshold and self.threshold * self.unit.factor,
            comparison=self.comparison,
            more=self.more,
            unit=self.unit.name,
        )


def charted_members(incident: Incident, rules: Mapping[str, Rule]) -> tuple[Member, ...]:
    """Return the members of one rule: that of the lead, or else of the most severe with a PromQL rule, firing first.

    A rule that measures comes before one that counts: of a hot node people want the temperatures.
    """
    ordered = [incident.lead, *incident.firing, *incident.members]
    queries = {one.rule: rules[one.rule].query for one in ordered if one.rule in rules}
    charted = [id for id, query in queries.items() if isinstance(query, PromQLQuery)]
    rule = min(charted, key=lambda id: _is_count(rules[id]), default=None)
    return tuple({one.alert: one for one in ordered if one.rule == rule}.values())


def _is_count(rule: Rule) -> bool:
    return isinstance(rule.query, PromQLQuery) and drawn(rule.query.expr).is_count


def plan_chart(
    incident: Incident,
    members: Sequence[Member],
    alerts: Mapping[str, Alert],
    rules: Mapping[str, Rule],
    now: datetime,
) -> ChartPlan | None:
    """Return the plan of a chart of these members, whose alerts are by id; None if there is nothing to draw."""
    known = [alerts[one.alert] for one in members if one.alert in alerts]
    if not known:
        return None
    rule = rules[known[0].rule]
    assert isinstance(rule.query, PromQLQuery)
    of = drawn(rule.query.expr)
    series = [series_of(alert.labels, rule.template.labels) for alert in known[:MAX_LINES]]
    end = now if incident.resolved_at is None else min(now, incident.resolved_at + LEAD / 5)
    start = min(end - WINDOW, incident.opened_at - LEAD)
    return ChartPlan(
        query=PromQLQuery(expr=chart_query(of, series), of_pack=rule.query.of_pack),
        start=start,
        end=end,
        step=max(timedelta(seconds=round((end - start).total_seconds() / POINTS)), SHORTEST_STEP),
        fired=incident.opened_at,
        resolved=incident.resolved_at,
        threshold=of.threshold,
        comparison=of.comparison,
        more=max(0, len(members) - MAX_LINES),
        unit=value_unit(rule.template.annotations.values()),
    )
