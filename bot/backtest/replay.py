"""The replay of one rule on recorded data, through the same engine as live evaluation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from alerts.alert import Alert
from alerts.engine import AlertRenderer, evaluate
from alerts.lifecycle import AlertState
from alerts.rules import Rule
from bot.backtest.range_cursor import Moments, RangeCursor, RangeSource
from collectors.facts.labels import AlertKey, Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.redaction import redacted
from collectors.facts.results import Blind, QueryResult, Sample, Seen
from collectors.facts.stepwise import result_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PastAlert:
    """An alert that fired. `peak` is its highest value meanwhile; `ended` is None if it still fired at the end."""

    rule: str
    labels: Labels  # without alertname
    started: datetime
    ended: datetime | None
    peak: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedRule:
    """What one rule fired, and why some of its results could not be used, if so."""

    rule: Rule
    alerts: tuple[PastAlert, ...] = ()
    unusable: str = ""


class Replay:
    """Replays one rule. `is_blind`: for each moment, whether nothing was recorded around it."""

    def __init__(
        self,
        rule: Rule,
        source: RangeSource,
        moments: Moments,
        is_blind: Sequence[bool],
        *,
        cluster: str,
        renderer: AlertRenderer,
    ) -> None:
        assert isinstance(rule.query, PromQLQuery)
        self._rule = rule
        self._moments = moments
        self._is_blind = is_blind
        self._cluster = cluster
        self._renderer = renderer
        self._expr = RangeCursor(source, rule.query.without_presence(), moments)
        presence = rule.query.presence
        self._presence = presence and RangeCursor(
            source, replace(rule.query, expr=presence, presence=None), moments
        )
        self._firing: dict[AlertKey, PastAlert] = {}
        self._over: list[PastAlert] = []

    async def run(self) -> ReplayedRule:
        """Evaluate the rule at every moment. Raises SourceError."""
        known: Mapping[AlertKey, Alert] = {}
        unusable = ""
        for number in range(self._moments.count):
            now = self._moments[number]
            result = await self._result(number, known)
            evaluation = result_of(
                evaluate(self._rule, known, result, cluster=self._cluster, renderer=self._renderer, now=now)
            )
            if isinstance(result, Seen):
                unusable = evaluation.blind or evaluation.left_out or unusable
            for change in evaluation.changes:
                self._note(change.alert)
            known = evaluation.alerts
            self._raise_peaks(known)
        alerts = sorted((*self._over, *self._firing.values()), key=lambda alert: alert.started)
        return ReplayedRule(rule=self._rule, alerts=tuple(alerts), unusable=unusable)

    async def _result(self, number: int, known: Mapping[AlertKey, Alert]) -> QueryResult:
        at = self._moments[number]
        if self._is_blind[number]:
            return Blind(source="prometheus", at=at, reason="nothing was recorded then", is_lasting=True)
        samples = await self._expr.at(number)
        present = None
        if self._presence and self._has_ended(known, samples):  # a large result that is seldom needed
            present = tuple(sample.labels for sample in await self._presence.at(number))
        return Seen(source="prometheus", at=at, samples=samples, present=present)

    def _has_ended(self, known: Mapping[AlertKey, Alert], samples: Sequence[Sample]) -> bool:
        """Return whether a known alert is not among the samples."""
        return bool(known) and not known.keys() <= {
            self._renderer.labels(self._rule, sample).key for sample in samples
        }

    def _note(self, alert: Alert) -> None:
        if alert.life.state is AlertState.FIRING:
            self._firing[alert.key] = PastAlert(
                rule=alert.name,
                labels=_shown(alert.labels.without("alertname")),
                started=alert.life.fired_at or alert.life.since,
                ended=None,
                peak=alert.value,
            )
        elif alert.life.state is AlertState.RESOLVED:
            self._over.append(replace(self._firing.pop(alert.key), ended=alert.life.resolved_at))

    def _raise_peaks(self, known: Mapping[AlertKey, Alert]) -> None:
        for key, past in self._firing.items():
            if known[key].value > past.peak:
                self._firing[key] = replace(past, peak=known[key].value)


def _shown(labels: Labels) -> Labels:
    """Return labels for tables, charts and files: without secrets in their values."""
    return Labels({name: redacted(value) for name, value in labels.items()})
