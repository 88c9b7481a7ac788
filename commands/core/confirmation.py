"""Proposal and confirmation of plans: from a draft to a stored, confirmed plan."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from alerts.cards.message import Button, Buttons
from alerts.store import Unit
from collectors.facts.clock import Clock
from collectors.facts.one_line import some_of
from collectors.facts.sentences import counted, sentence, word
from commands.core.command import AnyCommand, DeniedError, PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.request import Actor
from commands.execution.disruption import worse_than_shown
from commands.execution.plan import Plan, PlanState, Risk, plan_hash
from commands.execution.plan_outcome import open_incidents_about
from commands.execution.record_steps import changed_before
from commands.execution.step_outcomes import Waiting
from commands.execution.steps import Step
from commands.models import AuditEntry

SHOWN = 5  # disruptions that are named
MAX_PROPOSALS = 10_000  # whose times are remembered


def proposed(
    command: AnyCommand,
    draft: PlanDraft,
    context: CommandContext,
    *,
    number: int,
    line: str,
    expires: timedelta,
) -> Plan:
    """Return the plan of a draft, ready to be confirmed."""
    return Plan(
        id=f"p{number}",
        cluster=context.cluster.name,
        line=line,
        command=command.name,
        risk=command.risk,
        actor=context.actor.person,
        actor_name=context.actor.name,
        origin=context.origin,
        created_at=context.now,
        expires_at=context.now + expires,
        stages=draft.stages,
        title=draft.title,
        notes=draft.notes,
        disrupts=draft.disrupts,
        decided=draft.decided,
        is_dry_run=draft.is_dry_run,
        blockers=draft.blockers,
        undo_of=draft.undo_of,
        is_fixed=draft.is_fixed,
        relieves=command.relieves,
    )


def with_waits(draft: PlanDraft, waits: Sequence[Waiting]) -> PlanDraft:
    """Return the draft with a note for each thing that steps would have to wait for now, by its blocker."""
    reasons: dict[str, list[str]] = {}
    for wait in waits:
        reasons.setdefault(wait.blocker, []).append(wait.reason)
    notes = tuple(
        counted(
            "{count} step has to wait now: {reason}",
            "{count} steps have to wait now: {reason}",
            count=len(found),
            reason=found[0],
        )
        for found in reasons.values()
    )
    blockers = tuple(sorted(blocker for blocker in reasons if blocker))
    return replace(draft, notes=(*draft.notes, *notes), blockers=blockers)


class ProposalTimes:
    """The time by which proposed plans expire. A clock step does not change it.

    Plans that an earlier process proposed go by the wall clock.
    """

    def __init__(self) -> None:
        self._proposed: dict[str, timedelta] = {}

    def start(self, plan: Plan, clock: Clock) -> None:
        self._proposed[plan.id] = clock.elapsed()
        if len(self._proposed) > MAX_PROPOSALS:
            del self._proposed[next(iter(self._proposed))]

    def now(self, plan: Plan, clock: Clock) -> datetime:
        """Return the time without the clock steps since the plan was proposed."""
        since = self._proposed.get(plan.id)
        return clock.now() if since is None else plan.created_at + (clock.elapsed() - since)


def check_open(plan: Plan, now: datetime) -> None:
    """Raise UnusableError unless the plan can still be confirmed."""
    if plan.state is PlanState.CANCELLED and plan.error:
        raise UnusableError(
            sentence(
                "Plan `{plan}` ({title}) can no longer be confirmed: {error}.",
                plan=plan.id,
                title=plan.title,
                error=plan.error,
            )
        )
    if plan.state is not PlanState.PROPOSED:
        raise UnusableError(
            sentence(
                "Plan `{plan}` ({title}) is already {state}.",
                plan=plan.id,
                title=plan.title,
                state=word(plan.state.value),
            )
        )
    if now >= plan.expires_at:
        raise UnusableError(
            sentence(
                "Plan `{plan}` has expired: the cluster may have changed. Run `{line}` again.",
                plan=plan.id,
                line=plan.line,
            )
        )


def check_confirmation(plan: Plan, actor: Actor, hash: str) -> None:
    """Raise unless this person may confirm the plan, and the hash is that of the plan they saw."""
    if plan.risk is Risk.BREAK and actor.is_one(plan.actor):
        reason = sentence("This needs a second person: you requested it, so someone else has to confirm it.")
        raise DeniedError(reason, plan=plan.id)
    if not hash and plan.risk is not Risk.READ:
        raise UnusableError(
            sentence(
                "To confirm plan `{plan}`, press Confirm on its preview. Typed, it needs the hash of the plan that "
                "you have seen, which `plan show {plan}` has.",
                plan=plan.id,
            ),
            blocks=(Buttons(buttons=(Button(label="Show the plan", line=f"plan show {plan.id}"),)),),
        )
    if hash and hash != plan.hash:
        raise UnusableError(
            sentence(
                "Plan `{plan}` is not the plan you were shown: its hash is {hash}.",
                plan=plan.id,
                hash=plan.hash,
            )
        )


def changes_since_shown(plan: Plan, draft: PlanDraft) -> str:
    """Return how planning again differs from what was shown, if it must be shown again; else an empty text.

    Another decision must, and more disruption. Less does not count: on a busy node nothing could ever be confirmed.
    """
    if plan_hash(draft.stages, draft.decided) != plan.hash:
        return sentence("The cluster changed since the first preview: this is the new plan.")
    worse = worse_than_shown(plan.disrupts, draft.disrupts)
    worse += [
        sentence("{blocker} blocks it", blocker=one) for one in draft.blockers if one not in plan.blockers
    ]
    if worse:
        return sentence(
            "It disrupts more than the first preview showed: {worse}.", worse=some_of(worse, SHOWN)
        )
    return ""


async def record_confirmation(
    unit: Unit, plan: Plan, *, by: Actor, clock: Clock, times: ProposalTimes
) -> None:
    """Store the plan as confirmed, with an audit entry. Raises UnusableError if the plan or a row changed."""
    now = clock.now()
    stored = await unit.rows(Plan).get(plan.id)
    if stored is not None:
        check_open(stored, times.now(stored, clock))
    if reason := await changed_before(unit, plan.steps):
        raise UnusableError(reason)
    entry = AuditEntry(
        id=f"{plan.id}/confirmed",
        cluster=plan.cluster,
        at=now,
        actor=by.person,
        actor_name=by.name,
        line=plan.line,
        what="confirmed",
        plan=plan.id,
    )
    await unit.rows(AuditEntry).put(entry)
    confirmed = replace(
        plan,
        state=PlanState.CONFIRMED,
        confirmed_by=by.person,
        confirmed_by_name=by.name,
        confirmed_at=now,
        concerned=await open_incidents_about(unit, plan),
    )
    await unit.rows(Plan).put(confirmed)


def namespaces_of(steps: tuple[Step, ...]) -> list[str]:
    """Return the sorted namespaces that the steps change, or in which they request GPUs from an owner."""
    return sorted({name for step in steps for name in step.namespaces()})
