"""This file has how a draft becomes a plan, what its confirmation must satisfy, and how that is put down."""

from dataclasses import replace
from datetime import datetime, timedelta

from commands.core.command import AnyCommand, DeniedError, PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.request import Actor
from commands.models import AuditEntry, ReclaimState
from commands.plans.plan import Plan, PlanState, Risk, StepRecord
from commands.plans.record_steps import answered_meanwhile
from commands.plans.steps import Record, Step
from commands.store import Unit


def proposed(
    command: AnyCommand,
    draft: PlanDraft,
    context: CommandContext,
    *,
    number: int,
    line: str,
    expires: timedelta,
) -> Plan:
    """The plan of a draft, waiting to be confirmed."""
    return Plan(
        id=f"p{number}",
        cluster=context.cluster.name,
        line=line,
        command=command.name,
        risk=command.risk,
        actor=context.actor.id,
        actor_name=context.actor.name,
        origin=context.origin,
        created_at=context.now,
        expires_at=context.now + expires,
        steps=draft.steps,
        records=tuple(StepRecord() for _ in draft.steps),
        title=draft.title,
        notes=draft.notes,
        disrupts=draft.disrupts,
        undo_of=draft.undo_of,
        is_fixed=draft.is_fixed,
    )


def check_open(plan: Plan, now: datetime) -> None:
    """Raise UnusableError unless the plan still waits for a confirmation."""
    if plan.state is not PlanState.PROPOSED:
        raise UnusableError(f"Plan `{plan.id}` ({plan.title}) is {plan.state.value} already.")
    if now >= plan.expires_at:
        raise UnusableError(
            f"Plan `{plan.id}` has expired: facts have moved since. Write `{plan.line}` again."
        )


def check_confirmation(plan: Plan, actor: Actor, hash: str) -> None:
    """Raise unless this person may be the one to confirm, and what they saw is this plan."""
    if plan.risk is Risk.BREAK and actor.id == plan.actor:
        reason = "This needs a second person: you asked for it, somebody else has to confirm it."
        raise DeniedError(reason, plan=plan.id)
    if hash and hash != plan.hash:
        raise UnusableError(f"Plan `{plan.id}` is not the one you were shown (its hash is {plan.hash}).")


def has_changed(plan: Plan, draft: PlanDraft) -> bool:
    """Whether planning again gives something else than what was shown."""
    return replace(plan, steps=draft.steps, disrupts=draft.disrupts).hash != plan.hash


async def record_confirmation(unit: Unit, plan: Plan, *, by: str, now: datetime) -> None:
    """Put the plan as confirmed, with its audit. Raises UnusableError when somebody was faster, or a claim answered."""
    kept = await unit.plans.get(plan.id)
    if kept is not None:
        check_open(kept, now)
    if reason := await answered_meanwhile(unit, plan.steps):
        raise UnusableError(reason)
    entry = AuditEntry(
        id=f"{plan.id}/confirmed",
        cluster=plan.cluster,
        at=now,
        actor=by,
        actor_name=plan.actor_name if by == plan.actor else "",
        line=plan.line,
        what="confirmed",
        plan=plan.id,
    )
    await unit.audit.put(entry)
    await unit.plans.put(replace(plan, state=PlanState.CONFIRMED, confirmed_by=by, confirmed_at=now))


def namespaces_of(steps: tuple[Step, ...]) -> list[str]:
    """The namespaces that these steps touch, or in which they ask an owner for GPUs, in order."""
    return sorted({name for step in steps if (name := _namespace_of(step))})


def _namespace_of(step: Step) -> str:
    if isinstance(step, Record):
        return _asked_in(step)
    ref = step.ref
    return ref.name if ref.kind == "Namespace" else str(ref.namespace)


def _asked_in(step: Record) -> str:
    """Where the training is on which the step makes a claim: a question without an answer suspends it."""
    if step.table != "reclaim_requests" or step.row is None or step.row["state"] != ReclaimState.ASKED:
        return ""
    if step.inverse is not None and step.inverse["state"] != ReclaimState.VOID:
        return ""  # it was asked before
    return str(step.row["training"]).partition("/")[0]
