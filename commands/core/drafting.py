"""Drafts of plans: what a command would do now, whom it asks, and what the API server says of it in a dry run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from collectors.facts.sentences import listed, said_by, sentence
from commands.core.asking_owners import Consents
from commands.core.command import AnyCommand, DeniedError, PlanDraft, UnusableError
from commands.core.confirmation import SHOWN, with_waits
from commands.core.context import CommandContext
from commands.core.parsing import action_of
from commands.core.pricing import stakes_of
from commands.core.request import Actor
from commands.execution.cluster_writer import ClusterWriter
from commands.execution.dry_run import DryRunError, dry_run
from commands.execution.going_over import heading_of_reason, why_second_person
from commands.execution.impersonation import (
    Impersonation,
    NotListedError,
    accesses_of,
    refused_accesses,
)
from commands.execution.plan import HeldBy, Plan
from commands.execution.step_outcomes import Refused, Waiting
from commands.execution.steps import Record, Running, Wait

WITHOUT_A_WRITE = (Wait, Running, Record)  # steps that the API server has nothing to check of


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafting:
    """Makes drafts and tries them with the rights of an actor. `writers` are by cluster name."""

    writers: Mapping[str, ClusterWriter]
    impersonation: Impersonation = field(default_factory=Impersonation)
    consents: Consents | None = None

    async def draft(self, command: AnyCommand, action: Any, context: CommandContext) -> PlanDraft:
        """Return the draft of a command, with whom it asks and what is at stake."""
        assert command.plan is not None
        draft = await command.plan(action, context)
        if draft.nothing_to_do:
            return draft
        if draft.ask_owners and self.consents is not None:
            draft = await self.consents.asked(draft, context)
        if draft.stakes:
            return draft
        return replace(draft, stakes=await stakes_of((*draft.disrupts, *draft.may_end), context))

    async def tried(
        self, command: AnyCommand, action: Any, context: CommandContext, actor: Actor
    ) -> PlanDraft:
        """Return the draft after a dry run. Raises DeniedError, UnusableError and SourceError."""
        return await self.try_out(await self.draft(command, action, context), context, actor)

    async def again(
        self, command: AnyCommand, words: Sequence[str], context: CommandContext, plan: Plan, asker: Actor
    ) -> PlanDraft:
        """Return the draft of a stored plan, planned again, after a dry run."""
        if plan.is_fixed:
            draft = PlanDraft(
                title=plan.title,
                stages=plan.stages,
                disrupts=plan.disrupts,
                stakes=plan.stakes,
                decided=plan.decided,
            )
        else:
            draft = await self.draft(command, action_of(command, words), context)
        draft = await self.try_out(draft, context, asker)
        if not plan.over_budget:
            return draft
        return without_waiting(draft, plan.held_by, plan.over_budget, replaces=plan.replaces)

    async def check_rights(self, draft: PlanDraft, context: CommandContext, actor: Actor) -> None:
        """Raise DeniedError if Kubernetes refuses a step to the actor, or the settings do not say who they are."""
        await _check_rights(draft, self._writer(context, actor))

    async def try_out(self, draft: PlanDraft, context: CommandContext, actor: Actor) -> PlanDraft:
        """Return the draft with what its steps would have to wait for now, tried with the rights of the actor.

        Raises DeniedError and UnusableError if a step would be refused.
        """
        if not draft.steps or (writer := self._writer(context, actor)) is None:
            return draft
        await _check_rights(draft, writer)
        try:
            found = await dry_run(draft.stages, writer)
        except DryRunError as error:
            raise UnusableError(said_by(error)) from error
        refused = [one for one in found if isinstance(one, Refused)]
        is_dry_run = not refused and any(not isinstance(step, WITHOUT_A_WRITE) for step in draft.steps)
        notes = tuple(
            sentence("This will not be done: {reason}. The other steps will be.", reason=one.reason)
            for one in refused
        )
        draft = replace(draft, is_dry_run=is_dry_run, notes=(*draft.notes, *notes))
        return with_waits(draft, [one for one in found if isinstance(one, Waiting)])

    def _writer(self, context: CommandContext, actor: Actor) -> ClusterWriter | None:
        """Return the writer that writes as the actor. Raises DeniedError if the settings do not say who they are."""
        cluster = context.cluster.name
        if (writer := self.writers.get(cluster)) is None:
            return None
        try:
            return self.impersonation.writer_for(
                writer, cluster=cluster, person=actor.person, name=actor.name
            )
        except NotListedError as error:
            raise DeniedError(said_by(error)) from error


async def _check_rights(draft: PlanDraft, writer: ClusterWriter | None) -> None:
    if writer is not None and (refused := await refused_accesses(accesses_of(draft.steps), writer)):
        raise DeniedError(listed(refused[:SHOWN], "."))


def without_waiting(draft: PlanDraft, gates: tuple[HeldBy, ...], reason: str, *, replaces: str) -> PlanDraft:
    """Return the draft of a plan that does not wait for these gates, in the place of the one that does."""
    return replace(
        draft,
        breaks=(*draft.breaks, why_second_person(gates)),
        decided=(*draft.decided, heading_of_reason(gates, reason)),
        over_budget=reason,
        held_by=gates,
        replaces=replaces,
    )
