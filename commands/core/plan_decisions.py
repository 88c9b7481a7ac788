"""Decisions about stored plans: to confirm one, to take one over its budget, to begin one that waited.

Each plans again, as the cluster is then.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from alerts.store import Store
from collectors.facts.clock import Clock
from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by
from commands.core.approval import CONSENT, approved, asker_of
from commands.core.cluster_selection import cluster_named
from commands.core.command import Answer, AnyCommand, DeniedError, UnusableError
from commands.core.confirmation import check_open, namespaces_of
from commands.core.context import CommandContext
from commands.core.dividing import may_be_divided
from commands.core.named_rows import named_plan
from commands.core.parsing import action_of, find, words_of
from commands.core.persons import Persons
from commands.core.planner import Planner
from commands.core.request import Actor, Request
from commands.execution.plan import Plan, PlanState


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDecisions:
    """What people and the plan runner decide about stored plans. `context_of`: the context of a request's command."""

    planner: Planner
    store: Store
    clock: Clock
    persons: Persons
    catalogue: Sequence[AnyCommand]
    current: Callable[[Actor], Awaitable[Actor]]
    context_of: Callable[[Request, str], Awaitable[CommandContext]]

    async def confirm(self, id: str, *, hash: str, actor: Actor) -> Answer:
        """Confirm a proposed plan. It is planned again first, and shown again if the steps changed."""
        actor = await self.current(actor)
        plan = await self._stored(id)
        self._check_open(plan)
        words, command = self._line_of(plan)
        asker = asker_of(plan, actor, self.persons)
        context = await self._context(plan, actor)
        how = approved(
            plan,
            command,
            actor,
            asker,
            hash=hash,
            permissions=self.planner.permissions,
            owners=context.defaults.owners,
            is_own=command.owns is not None and await command.is_own(action_of(command, words), context),
        )
        # The lease and the name on the node are the requester's, not those of the person who confirms.
        if not command.checks_permission_itself:  # else the handler has to check the confirming person
            context = replace(context, actor=asker)
        return await self.planner.confirm_again(
            plan, command, words, context, asker=asker, by=actor, how=how, is_consent=how == CONSENT
        )

    async def exceed(self, id: str, *, reason: str, actor: Actor) -> Answer:
        """Propose the plan that takes the place of one which is held back. A second person confirms it."""
        plan = await self._stored(id)
        if plan.state is not PlanState.WAITING:
            self._check_open(plan)
        words, command = self._line_of(plan)
        refusal = self.planner.permissions.refusal(
            actor, command, cluster=plan.cluster, namespaces=namespaces_of(plan.steps)
        )
        if refusal is not None:
            raise DeniedError(refusal, plan=plan.id)
        return await self.planner.exceed(
            plan, command, words, await self._context(plan, actor), reason=reason
        )

    async def renew(self, plan: Plan) -> bool:
        """Plan again what waited for its budget; return whether it may begin. If it is another plan now, it ends."""
        words, command = self._line_of(plan)
        asker = asker_of(plan, None, self.persons)
        try:
            return await self.planner.waiting.renew(
                plan, command, words, await self._context(plan, asker), asker=asker
            )
        except SourceError:
            return False  # it waits on: what it would do cannot be seen
        except UnusableError as error:
            await self.planner.waiting.give_up(plan, said_by(error))
            return False

    async def divide(self, plan: Plan) -> bool:
        """Divide a plan that waits, if its parts do no more than was confirmed. Raises SourceError."""
        if not may_be_divided(plan):
            return False
        _, command = self._line_of(plan)
        asker = asker_of(plan, None, self.persons)
        by_line = {f"{line} --cluster {plan.cluster}": words_of(line) for line in plan.lines}
        try:
            context = await self._context(plan, asker)
            return await self.planner.waiting.divide(plan, command, by_line, context, asker=asker)
        except (UnusableError, DeniedError):
            return False  # it waits on, as a whole

    def _line_of(self, plan: Plan) -> tuple[Sequence[str], AnyCommand]:
        words, _ = cluster_named(words_of(plan.line))
        return words, find(words, self.catalogue)

    def _check_open(self, plan: Plan) -> None:
        check_open(plan, self.planner.times.now(plan, self.clock))

    async def _context(self, plan: Plan, actor: Actor) -> CommandContext:
        request = Request(
            id=f"{plan.id}/again", line=plan.line, actor=actor, at=self.clock.now(), origin=plan.origin
        )
        return await self.context_of(request, plan.cluster)

    async def _stored(self, id: str) -> Plan:
        async with self.store.read() as snapshot:
            return await named_plan(id, snapshot)
