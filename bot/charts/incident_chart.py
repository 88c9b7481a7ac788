"""The chart of an incident: which query is drawn, over which time, and the lines that come of it."""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.incidents.incident import Incident, Member
from alerts.rules import Rule
from bot.charts.chart_query import chart_query, series_of
from bot.charts.line_chart import MAX_LINES, Chart, Line, named_lines
from bot.charts.threshold import Drawn, drawings
from bot.charts.value_unit import ValueUnit, value_unit
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Series

WINDOW = timedelta(hours=1)
LEAD = timedelta(minutes=15)  # shown before an incident that lasted longer
POINTS = 240
FEWEST = 3  # points of a line: fewer show no course
SHORTEST_STEP = timedelta(seconds=10)


_FIRES: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}


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
        """Return the chart of the query's result; None if it does not show what the alert is about."""
        lines = named_lines(series)
        if not self._shows_why(lines):
            return None
        known = [abs(value) for line in lines for _, value in line.points]
        unit = self.unit.fitting(max([*known, abs(self.threshold or 0.0)]))
        return Chart(
            lines=tuple(map(unit.of_line, lines)),
            start=self.start.timestamp(),
            end=self.end.timestamp(),
            step=self.step.total_seconds(),
            fired=self.fired.timestamp(),
            resolved=self.resolved.timestamp() if self.resolved else None,
            threshold=self.threshold and self.threshold * unit.factor,
            comparison=self.comparison,
            more=self.more,
            unit=unit.name,
        )

    def _shows_why(self, lines: Sequence[Line]) -> bool:
        """Whether a line has a course, and is where the alert fires: between two steps a short peak is not seen."""
        if max((len(line.points) for line in lines), default=0) < FEWEST:
            return False
        values = {value for line in lines for _, value in line.points}
        if self.threshold is None:
            return len(values) > 1
        return any(_FIRES[self.comparison](value, self.threshold) for value in values)


def charted_members(incident: Incident, rules: Mapping[str, Rule]) -> tuple[Member, ...]:
    """Return the members of one rule: that of the lead, or else of the most severe with a PromQL rule, firing first.

    A rule that measures comes before one that counts: of a hot node people want the temperatures. A state, such as
    `up == 0`, and an event, such as an XID, have no course.
    """
    ordered = [incident.lead, *incident.firing, *incident.members]
    known = dict.fromkeys(one.rule for one in ordered if one.rule in rules and not one.xid)
    drawn = {id: _drawings(rules[id]) for id in known}
    charted = [id for id, found in drawn.items() if found and not all(one.is_state for one in found)]
    rule = min(charted, key=lambda id: any(one.is_count for one in drawn[id]), default=None)
    return tuple({one.alert: one for one in ordered if one.rule == rule}.values())


def _drawings(rule: Rule) -> tuple[Drawn, ...]:
    return drawings(rule.query.expr) if isinstance(rule.query, PromQLQuery) else ()


def chart_plans(
    incident: Incident,
    members: Sequence[Member],
    alerts: Mapping[str, Alert],
    rules: Mapping[str, Rule],
    now: datetime,
) -> tuple[ChartPlan, ...]:
    """Return plans of a chart of these members, whose alerts are by id: that of the first with values is drawn."""
    known = [alerts[one.alert] for one in members if one.alert in alerts]
    if not known:
        return ()
    rule = rules[known[0].rule]
    assert isinstance(rule.query, PromQLQuery)
    query = rule.query
    series = [series_of(alert.labels, rule.template.labels) for alert in known[:MAX_LINES]]
    end = now if incident.resolved_at is None else min(now, incident.resolved_at + LEAD / 5)
    start = min(end - WINDOW, incident.opened_at - LEAD)
    return tuple(
        ChartPlan(
            query=PromQLQuery(expr=chart_query(of, series), of_pack=query.of_pack),
            start=start,
            end=end,
            step=max(timedelta(seconds=round((end - start).total_seconds() / POINTS)), SHORTEST_STEP),
            fired=incident.opened_at,
            resolved=incident.resolved_at,
            threshold=of.threshold,
            comparison=of.comparison,
            more=max(0, len(members) - MAX_LINES),
            unit=value_unit(rule.template.annotations.values(), of.expr),
        )
        for of in drawings(query.expr)
    )
