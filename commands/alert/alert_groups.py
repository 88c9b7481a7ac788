"""Alerts of one rule about one place, as one line: `8× GPUThermalThrottling on gpu-b03, 63-66 %`. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose
from types import MappingProxyType

from alerts.alert import Alert
from alerts.incidents.grouping import place_of
from alerts.incidents.incident import Member
from alerts.incidents.members import summary_of
from alerts.lifecycle import AlertState
from alerts.rules import Severity
from collectors.facts.sentences import listed, sentence

_MEASURED = re.compile(r"(?P<number>-?\d+(?:\.\d+)?) ?(?P<unit>%|°[CF]|[kKMGT]i?B|ms|s|W)(?![\w-])")


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertGroup:
    """Alerts of one name, place, state and severity, oldest first.

    `worse` is what the oldest one is in its incident, if that makes it worse than it is alone.
    """

    alerts: tuple[Alert, ...]
    place: str
    severity: Severity
    is_silenced: bool
    worse: Member | None = None

    @property
    def oldest(self) -> Alert:
        return self.alerts[0]

    @property
    def text(self) -> str:
        """One alert in its own words; several by their rule, place and range of values."""
        name = self.oldest.name
        if len(self.alerts) == 1:
            return listed((name, self.worse.summary if self.worse else summary_of(self.oldest)), ":")
        number, place = len(self.alerts), self.place
        if values := value_range(self.alerts):
            return sentence(
                "{number}× {alert} on {place}, {values}",
                number=number,
                alert=name,
                place=place,
                values=values,
            )
        return sentence("{number}× {alert} on {place}", number=number, alert=name, place=place)


def grouped(
    alerts: Iterable[Alert],
    silenced: Iterable[str],
    worse: Mapping[str, Member] = MappingProxyType({}),
    places: Mapping[str, str] = MappingProxyType({}),
) -> list[AlertGroup]:
    """Return the groups: firing before pending, then most severe, then oldest; silenced ones are last.

    `silenced` are ids of alerts, `worse` those that are worse in their incident than alone, by id.
    `places`: of those that are a part of something wider, such as a rack, by id.
    """
    quiet = frozenset(silenced)
    found: dict[tuple[str, str, AlertState, Severity, bool], list[Alert]] = {}
    for alert in sorted(alerts, key=lambda alert: alert.life.since):
        place = places.get(alert.id) or place_of(replace(alert.subject, gpu=""))
        severity = worse[alert.id].severity if alert.id in worse else alert.severity
        key = (alert.name, place, alert.life.state, severity, alert.id in quiet)
        found.setdefault(key, []).append(alert)
    groups = [
        AlertGroup(
            alerts=tuple(members),
            place=place,
            severity=severity,
            is_silenced=is_silenced,
            worse=worse.get(members[0].id),
        )
        for (_, place, _, severity, is_silenced), members in found.items()
    ]
    return sorted(groups, key=_order)


def value_range(alerts: Sequence[Alert]) -> str:
    """Return the lowest and the highest measured value with their unit, as the summaries say it; else nothing.

    A summary says the value as it is, or a share as a percentage.
    """
    found = [_measured(alert) for alert in alerts]
    units = {unit for _, unit in filter(None, found)}
    if None in found or len(units) != 1:
        return ""
    numbers = [number for number, _ in filter(None, found)]
    low, high = (_short(number) for number in (min(numbers), max(numbers)))
    return f"{low} {units.pop()}" if low == high else f"{low}-{high} {units.pop()}"


def _measured(alert: Alert) -> tuple[float, str] | None:
    """The number in the summary that is the alert's value, rounded to as many digits as are written there."""
    for match in _MEASURED.finditer(summary_of(alert)):
        number = float(match["number"])
        slack = 0.51 * 10 ** -len(match["number"].partition(".")[2])
        if any(isclose(number, value, abs_tol=slack) for value in (alert.value, 100 * alert.value)):
            return number, match["unit"]
    return None


def _short(number: float) -> str:
    return f"{number:.0f}" if abs(number) >= 10 else f"{number:.1f}".removesuffix(".0")


def _order(group: AlertGroup) -> tuple[object, ...]:
    return (
        group.is_silenced,
        not group.oldest.is_firing,
        -group.severity.rank,
        group.oldest.life.since,
        group.oldest.id,
    )
