"""Evaluation of a rule: its known alerts and a query result give its new alerts. Pure."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from alerts.alert import Alert
from alerts.lifecycle import AlertState, Verdict, advance
from alerts.present_series import PresentSeries
from alerts.relabelled_series import carried_over, is_among, renamed_trainings
from alerts.rules import Rule
from collectors.facts.labels import AlertKey, Labels
from collectors.facts.queries import CheckQuery, PromQLQuery
from collectors.facts.results import Blind, QueryResult, Sample, Seen
from collectors.facts.sentences import sentence
from collectors.facts.stepwise import STEP, Stepwise
from collectors.facts.subjects import Subject

MAX_ALERTS = 50_000  # per rule that sets no limit of its own: a bound on memory; the rest are only counted


class AlertRenderer(Protocol):
    """Renders a rule's labels and annotations for a sample, and finds the subject of its labels."""

    def labels(self, rule: Rule, sample: Sample) -> Labels:
        """Return the alert's labels: the sample's without its metric name, the rule's, and alertname."""
        ...

    def annotations(self, rule: Rule, sample: Sample) -> Mapping[str, str]: ...

    def subject(self, labels: Labels) -> Subject: ...

    def complete(self, subject: Subject) -> Subject: ...

    def has_node(self, subject: Subject) -> bool | None:
        """Whether the subject's node is in the cluster; None while the topology is unknown."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertChange:
    """An alert whose state changed. `before` is None for a new alert."""

    alert: Alert
    before: AlertState | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleEvaluation:
    """One evaluation of a rule: its alerts, the changes among them, why it was blind and what it left out, if so."""

    alerts: Mapping[AlertKey, Alert]
    changes: tuple[AlertChange, ...] = ()
    blind: str = ""
    left_out: str = ""


Known = Mapping[AlertKey, Alert]


def evaluate(
    rule: Rule,
    known: Known,
    result: QueryResult,
    *,
    cluster: str,
    renderer: AlertRenderer,
    now: datetime,
    proven: Container[str] = frozenset(),
    is_certain: bool = True,
    most: int = MAX_ALERTS,
) -> Stepwise[RuleEvaluation]:
    """Return the rule's alerts after `result`. Samples with equal labels change nothing.

    After a moment that nobody can see (Blind), `keep_firing_for` starts over. `proven` are ids of alerts whose fault
    was proven over: they end although their target no longer has data. Without `is_certain` the data of the query
    has a hole, so that what it does not return may be active.
    """
    if isinstance(result, Blind):
        return RuleEvaluation(alerts=_interrupted(known, rule, now), blind=result.reason)
    found: dict[AlertKey, tuple[Labels, Sample]] = {}
    for number, sample in enumerate(result.samples, 1):
        if number % STEP == 0:
            yield
        labels = renderer.labels(rule, sample)
        if labels.key in found:
            return RuleEvaluation(
                alerts=known,
                blind=sentence(
                    "two results of {rule} have the same labels {labels}", rule=rule.name, labels=repr(labels)
                ),
            )
        found[labels.key] = (labels, sample)
    moved = _moved(rule, known, found, renderer)
    unread = PresentSeries(_unread(rule, result))
    present = PresentSeries(result.present) if result.present is not None else None
    left_out = (
        sentence(
            "{rule} returned samples that cannot be read; alerts that they may belong to are kept",
            rule=rule.name,
        )
        if result.unread
        else ""
    )
    if rule.limit and len(found) > rule.limit:  # the rule's own limit: exceeding it fails, as in Prometheus
        return RuleEvaluation(
            alerts=known,
            blind=sentence(
                "{rule} returned {number} alerts; its limit is {limit}",
                rule=rule.name,
                number=len(found),
                limit=rule.limit,
            ),
        )
    if len(found) > most:  # a flood must not silence the rule: known alerts stay, then as many new ones
        left_out = sentence(
            "{rule} returned {number} alerts; only {most} are kept",
            rule=rule.name,
            number=len(found),
            most=most,
        )
        kept = sorted(found, key=lambda key: (key not in known, key))[:most]
        found = {key: found[key] for key in kept}

    alerts: dict[AlertKey, Alert] = {}
    changes: list[AlertChange] = []
    for number, key in enumerate([*known, *(key for key in found if key not in known)], 1):
        if number % STEP == 0:
            yield
        before = known.get(key)
        ended_reason = ""
        verdict = _verdict(key, before, found, present, unread)
        if (
            verdict is Verdict.UNKNOWN
            and before is not None
            and _is_elsewhere(rule, before, present, unread, renderer)
        ):
            verdict = Verdict.INACTIVE
        if verdict is Verdict.UNKNOWN and before is not None and _is_gone(before, renderer):
            verdict, ended_reason = (
                Verdict.INACTIVE,
                sentence("{node} left the cluster", node=before.subject.node),
            )
        timing = rule.timing
        if verdict is Verdict.UNKNOWN and before is not None and before.id in proven:
            verdict, timing = Verdict.INACTIVE, replace(timing, keep_firing_for=timedelta())
        is_firing = before is not None and before.is_firing  # a pending one starts over, as in Prometheus
        if verdict is Verdict.INACTIVE and is_firing and not is_certain and not ended_reason:
            verdict = Verdict.UNCERTAIN
        life = advance(before.life if before else None, verdict, timing, now)
        if life is None:
            continue
        if key in found:
            labels, sample = found[key]
            own = before.own_subject if before else renderer.subject(labels)
            subject = renderer.complete(moved.get(key, own)).or_else(before.subject if before else own)
            alert = Alert(
                cluster=cluster,
                rule=rule.id,
                labels=labels,
                own_subject=own,
                subject=subject,
                life=life,
                value=sample.value,
                annotations=renderer.annotations(rule, sample),
                texts=sample.texts or (before.texts if before else ()),
                is_on_node=renderer.has_node(subject) is True or (before is not None and before.is_on_node),
            )
        elif before is not None:
            unseen_since = (before.unseen_since or now) if verdict is Verdict.UNKNOWN else None
            alert = replace(before, life=life, unseen_since=unseen_since, ended_reason=ended_reason)
        else:
            continue
        previous = before.life.state if before else None
        if previous is not life.state:
            changes.append(AlertChange(alert=alert, before=previous, at=now))
        if life.state is not AlertState.RESOLVED:
            alerts[key] = alert
    return RuleEvaluation(alerts=alerts, changes=tuple(changes), left_out=left_out)


def _interrupted(known: Known, rule: Rule, now: datetime) -> Known:
    lives = {key: advance(alert.life, Verdict.UNCERTAIN, rule.timing, now) for key, alert in known.items()}
    return {key: replace(known[key], life=life) for key, life in lives.items() if life is not None}


def _moved(
    rule: Rule, known: Known, found: dict[AlertKey, tuple[Labels, Sample]], renderer: AlertRenderer
) -> Mapping[AlertKey, Subject]:
    """Give samples that other labels name to the alerts that they are of, which keep theirs.

    Return the subjects of those alerts, by what their series say now. Only our own rules: others are as in Prometheus.
    """
    is_check = isinstance(rule.query, CheckQuery)
    if not known or not (is_check or _is_own(rule)):
        return {}
    same = renamed_trainings if is_check else carried_over
    labels = {key: one for key, (one, _) in found.items()}
    moved = same(known, labels, lambda one: renderer.complete(renderer.subject(one)))
    for key, before in moved.items():
        found[before] = known[before].labels, found.pop(key)[1]
    return {before: renderer.subject(labels[key]) for key, before in moved.items()}


def _is_own(rule: Rule) -> bool:
    return isinstance(rule.query, PromQLQuery) and rule.query.of_pack


def _is_elsewhere(
    rule: Rule, alert: Alert, present: PresentSeries | None, unread: PresentSeries, renderer: AlertRenderer
) -> bool:
    """Whether the alert's subject is watched by other labels, and can be read."""
    if not _is_own(rule) or present is None or unread.agrees(alert.labels):
        return False
    return is_among(alert, present, lambda one: renderer.complete(renderer.subject(one)))


def _verdict(
    key: AlertKey,
    before: Alert | None,
    found: Mapping[AlertKey, object],
    present: PresentSeries | None,
    unread: PresentSeries,
) -> Verdict:
    if key in found:
        return Verdict.ACTIVE
    if before is not None and present is not None and not present.agrees(before.labels):
        return Verdict.UNKNOWN
    if before is not None and unread.agrees(before.labels):
        return Verdict.UNKNOWN
    return Verdict.INACTIVE


def _unread(rule: Rule, result: Seen) -> tuple[Labels, ...]:
    """Return what is known of the labels of alerts whose sample could not be read.

    The labels that the rule sets may depend on the value, so they are left out.
    """
    own = ("__name__", "alertname", *rule.template.labels)
    return tuple(dict.fromkeys(labels.without(*own) for labels in result.unread))


def _is_gone(alert: Alert, renderer: AlertRenderer) -> bool:
    """Whether the alert's node has left the cluster. A host that was never one of its nodes may exist unseen."""
    return alert.is_on_node and renderer.has_node(alert.subject) is False
