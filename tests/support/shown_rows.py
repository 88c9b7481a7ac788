"""The visible contents of a store, which must be the same before and after a migration."""

from typing import Any

from alerts.cards.posted import CardImage, PostedCard, ThreadReply
from alerts.incidents.incident import Incident
from alerts.silences import Silence
from alerts.store import StoreSnapshot
from collectors.facts.subjects import WORDS, Subject
from collectors.facts.topology import shown_name
from commands.execution.plan import Plan, StepRecord
from commands.models import AuditEntry, CordonLease, DueCommand, HandledRequest, Launch, ReclaimRequest

Shown = dict[str, list[dict[str, Any]]]


def _shown_subject(subject: Subject) -> str:
    """Return the subject as it was written when it had what people read."""
    words = subject.words()
    fields = ", ".join(f"{word}={words.get(word, '')!r}" for word in WORDS)
    return f"Subject({fields})"


def _shown_group(incident: Incident) -> str:
    """Return the group key with what people read of a training or a workload."""
    word = incident.group_key.partition("/")[0]
    if word not in ("training", "workload"):
        return incident.group_key
    return f"{word}/{incident.subject.words()[word]}"


async def shown_rows(snapshot: StoreSnapshot) -> Shown:
    """Return what people see of each table's rows: names, not ids of people; what a row is about, not its key."""
    return {
        "incidents": [
            {
                "id": one.id,
                "cluster": one.cluster,
                "state": one.state,
                "group_key": _shown_group(one),
                "severity": one.severity.value,
                "opened_at": one.opened_at.isoformat(),
                "title": one.lead.headline or one.lead.summary,
                "subject": _shown_subject(one.subject),
                "channels": list(one.channels),
                "alerts": sorted(
                    [member.name, member.state.value, member.summary, _shown_subject(member.subject)]
                    for member in one.members
                ),
                "impacts": sorted(
                    [shown_name(impact.shown), impact.owner, impact.team] for impact in one.impacts
                ),
                "acknowledged_by": one.acknowledged_by_name,
                "events": [
                    [event.type.value, event.at.isoformat(), event.text, event.who_name]
                    for event in one.events
                ],
                "fixed_by": list(one.fixed_by),
            }
            for one in await snapshot.rows(Incident).find()
        ],
        "cards": [
            {
                "kind": one.kind.value,
                "cluster": one.cluster,
                "channel": one.channel,
                "message": one.message_id,
                "state": one.state,
            }
            for one in await snapshot.rows(PostedCard).find()
        ],
        "replies": [
            {"cluster": one.cluster, "state": one.state} for one in await snapshot.rows(ThreadReply).find()
        ],
        "images": [{"cluster": one.cluster} for one in await snapshot.rows(CardImage).find()],
        "leases": [
            {
                "cluster": one.cluster,
                "node": one.node,
                "owner": one.owner_name,
                "reason": one.reason,
                "until": one.until and one.until.isoformat(),
            }
            for one in await snapshot.rows(CordonLease).find()
        ],
        "silences": [
            {
                "id": one.id,
                "matchers": [str(matcher) for matcher in one.matchers],
                "incident": one.incident,
                "by": one.by_name,
                "reason": one.comment,
                "ends_at": one.ends_at.isoformat(),
            }
            for one in await snapshot.rows(Silence).find()
        ],
        "plans": [
            {
                "id": one.id,
                "line": one.line,
                "title": one.title,
                "state": one.state.value,
                "hash": one.hash,
                "actor": one.actor_name,
                "confirmed_by": one.confirmed_by_name,
                "steps": [step.description for step in one.steps],
                "disrupts": [[part.shown or shown_name(part.name), part.gpus] for part in one.disrupts],
            }
            for one in await snapshot.rows(Plan).find()
        ],
        "steps": [
            {"id": one.id, "state": one.state.value, "outcome": one.outcome}
            for one in await snapshot.rows(StepRecord).find()
        ],
        "launches": [
            {
                "cluster": one.cluster,
                "training": shown_name(one.shown),
                "by": one.by_name,
                "state": one.state,
                "reported": one.reported_state,
            }
            for one in await snapshot.rows(Launch).find()
        ],
        "reclaim_requests": [
            {
                "id": one.id,
                "training": shown_name(one.shown),
                "owner": one.owner,
                "gpus": one.gpus,
                "asked_by": one.asked_by_name,
                "state": one.state.value,
            }
            for one in await snapshot.rows(ReclaimRequest).find()
        ],
        "due": [
            {"id": one.id, "line": one.line, "at": one.at.isoformat()}
            for one in await snapshot.rows(DueCommand).find()
        ],
        "audit": [
            {"id": one.id, "by": one.actor_name, "line": one.line, "what": one.what, "plan": one.plan}
            for one in await snapshot.rows(AuditEntry).find()
        ],
        "handled": [{"id": one.id} for one in await snapshot.rows(HandledRequest).find()],
    }
