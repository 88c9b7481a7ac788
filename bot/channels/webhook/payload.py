"""The body of a webhook: Alertmanager's version 4, with the incident in addition. Pure.

Source: https://prometheus.io/docs/alerting/latest/configuration/#webhook_config
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import partial

import msgspec

from alerts.cards.incident_facts import AlertFacts, IncidentFacts, body_within
from collectors.facts.sentences import english

VERSION = "4"
HEARTBEAT = {"alertname": "Watchdog", "severity": "none"}  # as Prometheus' own heartbeat is called
MAX_BODY = 512 << 10  # bytes: a body that a receiver refuses as too large would be lost
NOT_ENDED = datetime(1, 1, 1, tzinfo=UTC)  # Go's zero time, which Alertmanager sends for a firing alert


class WebhookAlert(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An alert. `generator_url` is empty: what evaluated it is Yardmaster, which has no page for it."""

    status: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    starts_at: datetime
    ends_at: datetime
    generator_url: str = msgspec.field(name="generatorURL", default="")
    fingerprint: str


class WebhookIncident(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """What Alertmanager does not know. `version` grows with each event, so the greater of two bodies is the later."""

    id: str
    cluster: str
    title: str
    severity: str
    state: str  # open or resolved
    phase: str  # firing, acknowledged or resolved
    version: int
    opened_at: datetime
    resolved_at: datetime | None
    acknowledged_by: str
    affected: tuple[str, ...]
    links: Mapping[str, str]


class WebhookPayload(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """One POST. `group_key` stays the same through an incident's life, and when the same object breaks again."""

    version: str = VERSION
    group_key: str
    truncated_alerts: int
    status: str  # firing until the incident is resolved, even if its alerts ended before
    receiver: str
    group_labels: Mapping[str, str]
    common_labels: Mapping[str, str]
    common_annotations: Mapping[str, str]
    external_url: str = msgspec.field(name="externalURL", default="")
    alerts: tuple[WebhookAlert, ...]
    incident: WebhookIncident | msgspec.UnsetType = msgspec.UNSET


def heartbeat_body(receiver: str, *, since: datetime) -> bytes:
    """Return the JSON body of an alert that fires for as long as Yardmaster runs."""
    alert = WebhookAlert(
        status="firing",
        labels=HEARTBEAT,
        annotations={"summary": "Yardmaster evaluates its rules. This alert always fires."},
        starts_at=since,
        ends_at=NOT_ENDED,
        fingerprint="0" * 16,
    )
    return msgspec.json.encode(
        WebhookPayload(
            group_key="yardmaster/heartbeat",
            truncated_alerts=0,
            status=alert.status,
            receiver=receiver,
            group_labels=HEARTBEAT,
            common_labels=HEARTBEAT,
            common_annotations=alert.annotations,
            alerts=(alert,),
        )
    )


def payload_of(facts: IncidentFacts, *, receiver: str) -> bytes:
    """Return the JSON body for the incident as it is now. Alerts that make it too large are counted only."""
    return body_within(MAX_BODY, facts, partial(_encoded, receiver))


def _encoded(receiver: str, facts: IncidentFacts) -> bytes:
    return msgspec.json.encode(
        WebhookPayload(
            group_key=facts.group_key,
            truncated_alerts=facts.left_out,
            status="firing" if facts.resolved_at is None else "resolved",
            receiver=receiver,
            group_labels=facts.subject,
            common_labels=_common(one.labels for one in facts.alerts),
            common_annotations=_common(one.annotations for one in facts.alerts),
            alerts=tuple(map(_alert, facts.alerts)),
            incident=WebhookIncident(
                id=facts.id,
                cluster=facts.cluster,
                title=facts.title,
                severity=facts.severity.value,
                state="open" if facts.resolved_at is None else "resolved",
                phase=facts.phase,
                version=facts.version,
                opened_at=facts.opened_at,
                resolved_at=facts.resolved_at,
                acknowledged_by=facts.acknowledged_by,
                affected=facts.affected,
                links=facts.links,
            ),
        ),
        enc_hook=english,
    )


def _alert(alert: AlertFacts) -> WebhookAlert:
    return WebhookAlert(
        status="firing" if alert.is_firing else "resolved",
        labels=dict(alert.labels),
        annotations=alert.annotations,
        starts_at=alert.starts_at,
        ends_at=alert.ends_at or NOT_ENDED,
        fingerprint=alert.fingerprint,
    )


def _common(several: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the pairs that all of them have."""
    first, *others = [*several] or [{}]
    return {name: value for name, value in first.items() if all(one.get(name) == value for one in others)}
