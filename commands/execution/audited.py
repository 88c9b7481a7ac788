"""Entries of the audit about plans: who did what, and what it concerns."""

from datetime import datetime

from commands.execution.plan import Plan
from commands.execution.steps import Record
from commands.models import AuditEntry

MOST = 200  # names in one entry


def entry_of(
    plan: Plan, what: str, at: datetime, *, actor: str = "", actor_name: str = "", reason: str = ""
) -> AuditEntry:
    """Return the entry that says what happened to a plan. `actor`: who did it, if not who asked for the plan."""
    return AuditEntry(
        id=entry_id(plan, what),
        cluster=plan.cluster,
        at=at,
        actor=actor or plan.actor,
        actor_name=actor_name if actor else plan.actor_name,
        line=plan.line,
        what=what,
        plan=plan.id,
        text=reason,
        price=plan.price,
        about=concerned_by(plan),
    )


def entry_id(plan: Plan, what: str) -> str:
    return f"{plan.id}/{what}"


def concerned_by(plan: Plan) -> tuple[str, ...]:
    """Return the names of what a plan concerns: nodes and other objects but pods, and workloads with their teams."""
    refs = [step.ref for step in plan.steps if not isinstance(step, Record)]
    objects = [
        f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name for ref in refs if ref.kind != "Pod"
    ]
    workloads = [name for one in plan.disrupts for name in (one.label, one.team) if name]
    return tuple(dict.fromkeys((*objects, *workloads)))[:MOST]
