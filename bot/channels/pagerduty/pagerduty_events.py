"""The bodies of PagerDuty's Events API, version 2, for an incident as it is now. Pure.

Source: https://developer.pagerduty.com/docs/events-api-v2/trigger-events/
"""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from hashlib import blake2b

import msgspec

from alerts.cards.incident_facts import AlertFacts, IncidentFacts, body_within
from collectors.facts.sentences import english

MAX_BODY = 480 << 10  # bytes; PagerDuty refuses more than 512 KiB
SUMMARY = 1024  # characters
DEDUP_KEY = 255
LINKS = 20
_SOURCES = ("node", "pod", "training", "component", "cluster")  # words of a subject, the closest first


class EventLink(msgspec.Struct, frozen=True, kw_only=True):
    href: str
    text: str


class Payload(msgspec.Struct, frozen=True, kw_only=True):
    summary: str
    source: str
    severity: str
    timestamp: datetime
    component: str
    group: str
    class_: str = msgspec.field(name="class")
    custom_details: Mapping[str, object]


class PagerDutyEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One event. The three actions of an incident have the same `dedup_key`, by which PagerDuty knows its alert."""

    routing_key: str
    event_action: str
    dedup_key: str
    client: str = "Yardmaster"
    payload: Payload
    links: tuple[EventLink, ...]


def actions_of(facts: IncidentFacts) -> tuple[str, ...]:
    """Return the actions after which PagerDuty has the incident as it is.

    Each can be sent any number of times. An acknowledgement of what was never triggered is lost, so that it is
    triggered first; what is acknowledged stays so.
    """
    if facts.resolved_at is not None:
        return ("resolve",)
    return ("trigger", "acknowledge") if facts.acknowledged_by else ("trigger",)


def dedup_key(facts: IncidentFacts) -> str:
    """Return the key: the broken object, as for a webhook. It is the same from the first event to the last."""
    key = facts.group_key
    return (
        key if len(key) <= DEDUP_KEY else f"{key[:200]}/{blake2b(key.encode(), digest_size=16).hexdigest()}"
    )


def event_body(facts: IncidentFacts, action: str, *, routing_key: str) -> bytes:
    """Return the JSON body. Alerts that make it too large are counted only."""
    return body_within(MAX_BODY, facts, partial(_encoded, action, routing_key))


def _encoded(action: str, routing_key: str, facts: IncidentFacts) -> bytes:
    return msgspec.json.encode(
        PagerDutyEvent(
            routing_key=routing_key,
            event_action=action,
            dedup_key=dedup_key(facts),
            payload=_payload(facts),
            links=tuple(EventLink(href=href, text=name) for name, href in [*facts.links.items()][:LINKS]),
        ),
        enc_hook=english,
    )


def _payload(facts: IncidentFacts) -> Payload:
    subject = facts.subject
    title = f"[{facts.id}] {facts.title}"
    return Payload(
        summary=title if len(title) <= SUMMARY else f"{title[: SUMMARY - 1]}…",
        source=next((subject[word] for word in _SOURCES if subject.get(word)), facts.cluster),
        severity=facts.severity.value,  # PagerDuty has the same words: critical, warning, info
        timestamp=facts.opened_at,
        component=subject.get("component", "") or subject.get("training", ""),
        group=facts.cluster,
        class_=facts.alerts[0].labels.get("alertname", "") if facts.alerts else "",
        custom_details={
            "incident": facts.id,
            "phase": facts.phase,
            "acknowledged_by": facts.acknowledged_by,
            "affected": facts.affected,
            "subject": subject,
            "alerts": tuple(map(_details, facts.alerts)),
            "other_alerts": facts.left_out,
        },
    )


def _details(alert: AlertFacts) -> Mapping[str, object]:
    return {
        "is_firing": alert.is_firing,
        "labels": dict(alert.labels),
        "annotations": alert.annotations,
        "starts_at": alert.starts_at,
        "ends_at": alert.ends_at,
    }
