"""Proposal and confirmation of plans: from a draft to a stored, confirmed plan."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from alerts.store import Unit
from collectors.facts.clock import Clock
from collectors.facts.one_line import some_of
from collectors.facts.sentences import counted, sentence, word
from commands.core.command import AnyCommand, PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.ownership import ownership
from commands.core.request import Actor
from commands.execution.audited import entry_of
from commands.execution.disruption import worse_than_shown
from commands.execution.plan import Plan, PlanState, plan_hash
from commands.execution.plan_outcome import end_unbegun, open_incidents_about
from commands.execution.record_steps import changed_before
from commands.execution.step_outcomes import Waiting
from commands.execution.steps import Step
from commands.gates.price import price_of
from commands.gates.second_person import reasons, team_alone
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
    actor, cluster = context.actor, context.cluster.name
    return Plan(
        id=f"p{number}",
        cluster=cluster,
        line=line,
        command=command.name,
        actor=actor.person,
        actor_name=actor.name,
        actor_teams=tuple(sorted(actor.teams)),
        origin=context.origin,
        created_at=context.now,
        expires_at=context.now + expires,
        stages=draft.stages,
        title=draft.title,
        notes=draft.notes,
        disrupts=draft.disrupts,
        stakes=draft.stakes,
        price=price_of(draft.stakes).said,
        decided=draft.decided,
        breaks=breaks_of(draft, actor, context.defaults.owners),
        alone=team_alone(
            actor.teams,
            context.teams,
            commands_of(command.name, over_budget=draft.over_budget),
            cluster=cluster,
            namespaces=namespaces_of(draft.steps),
        ),
        is_dry_run=draft.is_dry_run,
        blockers=draft.blockers,
        undo_of=draft.undo_of,
        over_budget=draft.over_budget,
        held_by=draft.held_by,
        replaces=draft.replaces,
        lines=draft.lines,
        is_fixed=draft.is_fixed,
        relieves=(*command.relieves, *draft.relieves),
    )


def commands_of(command: str, *, over_budget: str) -> tuple[str, ...]:
    """Return the commands that a team must be allowed to confirm alone, to confirm such a plan alone."""
    return (command, "plan exceed") if over_budget else (command,)


def breaks_of(draft: PlanDraft, asker: Actor, owners: Mapping[str, str]) -> tuple[str, ...]:
    """Return why the plan of a draft needs a second person."""
    return reasons(draft.disrupts, draft.breaks, ownership(asker, owners))


def breaks_now(plan: Plan, draft: PlanDraft, asker: Actor, context: CommandContext) -> tuple[str, ...]:
    """Return why a stored plan needs a second person as it is now. That of a file is what was shown."""
    return plan.breaks if plan.is_fixed else breaks_of(draft, asker, context.defaults.owners)


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


def already(plan: Plan) -> UnusableError:
    return UnusableError(
        sentence(
            "Plan `{plan}` ({title}) is already {state}.",
            plan=plan.id,
            title=plan.title,
            state=word(plan.state.value),
        )
    )


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
        raise already(plan)
    if now >= plan.expires_at:
        raise UnusableError(
            sentence(
                "Plan `{plan}` has expired: the cluster may have changed. Run `{line}` again.",
                plan=plan.id,
                line=plan.line,
            )
        )


def changes_since_shown(plan: Plan, draft: PlanDraft, breaks: Sequence[str]) -> str:
    """Return how planning again differs from what was shown, if it must be shown again; else an empty text.

    Another decision must, more disruption, and what needs a second person (`breaks`) and did not. Less does not count:
    on a busy node nothing could ever be confirmed.
    """
    if plan_hash(draft.stages, draft.decided) != plan.hash:
        return sentence("The cluster changed since the first preview: this is the new plan.")
    worse = worse_than_shown(plan.disrupts, draft.disrupts)
    worse += [
        sentence("{blocker} blocks it", blocker=one) for one in draft.blockers if one not in plan.blockers
    ]
    worse = worse or [one for one in breaks if one not in plan.breaks]
    if worse:
        return sentence(
            "It disrupts more than the first preview showed: {worse}.", worse=some_of(worse, SHOWN)
        )
    return ""


async def record_confirmation(
    unit: Unit, plan: Plan, *, by: Actor, clock: Clock, times: ProposalTimes, how: str = ""
) -> None:
    """Store the plan as confirmed, with an audit entry. Raises UnusableError if the plan or a row changed.

    `how`: on what the second person's confirmation rests, or why none was needed.
    """
    now = clock.now()
    stored = await unit.rows(Plan).get(plan.id)
    if stored is not None:
        check_open(stored, times.now(stored, clock))
    if reason := await changed_before(unit, plan.steps):
        raise UnusableError(reason)
    if plan.replaces:
        await _end_replaced(plan, unit, now)
    entry = entry_of(plan, "confirmed", now, actor=by.person, actor_name=by.name, reason=how)
    await unit.rows(AuditEntry).add(entry)
    confirmed = replace(
        plan,
        state=PlanState.CONFIRMED,
        confirmed_by=by.person,
        confirmed_by_name=by.name,
        confirmed_at=now,
        concerned=await open_incidents_about(unit, plan),
    )
    await unit.rows(Plan).put(confirmed)


async def _end_replaced(plan: Plan, unit: Unit, now: datetime) -> None:
    """Cancel the plan in whose place this one is. Raises UnusableError if it is in progress or over."""
    replaced = await unit.rows(Plan).get(plan.replaces)
    if replaced is not None and replaced.state is PlanState.CANCELLED and replaced.confirmed_at is None:
        return  # a proposal that this one replaced when it was shown
    if replaced is None or replaced.state not in (PlanState.PROPOSED, PlanState.WAITING):
        raise UnusableError(
            sentence("Plan `{plan}`, which this one replaces, no longer waits.", plan=plan.replaces)
        )
    await end_unbegun(unit, replaced, sentence("replaced by {plan}", plan=plan.id), now)


def namespaces_of(steps: tuple[Step, ...]) -> list[str]:
    """Return the sorted namespaces that the steps change, or in which they request GPUs from an owner."""
    return sorted({name for step in steps for name in step.namespaces()})
