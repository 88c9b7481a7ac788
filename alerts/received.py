"""Alerts that another program sends, and what a repeat of one changes in the alert that we keep. Pure.

The meaning is Alertmanager's: an alert stands from `startsAt` until `endsAt`. A sender repeats it while it stands, with
a later end each time, and one that is not repeated is over at the last end that was given.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.alert_batch import Update
from alerts.incidents.twin import RECEIVED_PREFIX, is_received
from alerts.lifecycle import AlertLife, AlertState
from alerts.rules import Rule, named_rule
from alerts.store import Between
from collectors.facts.label_mapping import subject_of
from collectors.facts.labels import Labels
from collectors.facts.sentences import sentence
from collectors.facts.topology import Topology

RECEIVED = Between(start=RECEIVED_PREFIX, end="received0")  # `Alert.rule` of all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedAlert:
    """An alert as it was sent, without the labels in which replicas of a sender differ; its end may be in the past."""

    labels: Labels
    annotations: Mapping[str, str]
    starts_at: datetime
    ends_at: datetime
    generator_url: str = ""


def alert_id(cluster: str, labels: Labels) -> str:
    """Return the id under which the alert is kept, as `Alert.id`."""
    return f"{cluster}/{_rule_id(labels)}/{labels.key}"


def rule_of(id: str, rules: Mapping[str, Rule]) -> Rule | None:
    """Return the rule with this id; for a received alert ours of its name, which knows what to do about it."""
    return named_rule(id.removeprefix(RECEIVED_PREFIX), rules) if is_received(id) else rules.get(id)


def received(
    one: ReceivedAlert,
    known: Alert | None,
    *,
    cluster: str,
    topology: Topology,
    now: datetime,
    stored_for: timedelta,
    twin: str = "",
) -> tuple[Update, ...]:
    """Return what the sent alert changes: nothing, or its states since it was sent last, in their order.

    `stored_for`: a later end alone is not worth a row until it is so much later. `twin`: as in `Alert`.
    """
    is_over = one.ends_at <= now
    if known is None or not known.is_firing:
        if known is not None and is_over and one.ends_at <= _ended(known):
            return ()  # its end is repeated: senders do so for a while, as the first may have been lost
        if known is not None and is_over and one.starts_at < _ended(known):
            return (
                _over(replace(known, annotations=one.annotations), one.ends_at),
            )  # by another replica, later
        began = _alert(one, known, cluster=cluster, topology=topology, twin=twin)
        begun = (began, began.life.since)
        return (begun, _over(began, one.ends_at)) if is_over else (begun,)
    if is_over:
        is_of_last_life = one.starts_at < known.life.since and one.ends_at <= known.life.since
        return () if is_of_last_life else (_over(known, one.ends_at),)
    end = known.ends_at or one.ends_at
    is_same = known.annotations == one.annotations  # each replica has an URL of its own
    if is_same and one.ends_at - end < stored_for and one.starts_at >= known.life.since:
        return ()
    life = replace(known.life, since=min(known.life.since, one.starts_at))
    again = replace(
        known,
        annotations=one.annotations,
        generator_url=one.generator_url,
        ends_at=max(end, one.ends_at),
        subject=topology.complete(known.own_subject).or_else(known.subject),
        life=life,
    )
    return ((again, now),)


def _rule_id(labels: Labels) -> str:
    return f"{RECEIVED_PREFIX}{labels.get('alertname', '')}"


def not_repeated(alert: Alert, ended: datetime) -> Update:
    """Return the end of an alert that nobody has sent again by the end that was given last."""
    silent, at = _over(alert, ended)
    return replace(silent, ended_reason=sentence("it was not sent again in time")), at


def _over(alert: Alert, ended: datetime) -> Update:
    at = max(ended, alert.life.since)
    life = replace(alert.life, state=AlertState.RESOLVED, inactive_since=at, resolved_at=at)
    return replace(alert, life=life, ends_at=at), at


def _ended(alert: Alert) -> datetime:
    return alert.life.resolved_at or alert.life.since


def _alert(one: ReceivedAlert, known: Alert | None, *, cluster: str, topology: Topology, twin: str) -> Alert:
    """Return the alert at its beginning. One that is back begins when its last life ended at the earliest."""
    own = subject_of(one.labels)
    since = one.starts_at if known is None else max(one.starts_at, _ended(known))
    subject = topology.complete(own)
    return Alert(
        cluster=cluster,
        rule=_rule_id(one.labels),
        labels=one.labels,
        own_subject=own,
        subject=subject,
        life=AlertLife(state=AlertState.FIRING, since=since, fired_at=since),
        value=1,
        annotations=one.annotations,
        is_on_node=subject.node in topology.nodes,
        is_received=True,
        ends_at=one.ends_at,
        generator_url=one.generator_url,
        twin=twin,
    )
