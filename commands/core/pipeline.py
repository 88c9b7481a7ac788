"""This file has the one road of every command line: parse, permit, plan, confirm, journal, answer.

What the performer does with a confirmed plan is in `performing.py`; the road ends by putting it in the journal.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

from alerts.cards.message import Button, Color, Message, markup, text
from alerts.rules import Rule
from collectors.facts.clock import Clock
from collectors.facts.results import SourceError
from commands.core.cluster_selection import cluster_named, select_cluster, with_cluster
from commands.core.command import Answer, AnyCommand, DeniedError, PlanDraft, UnusableError
from commands.core.confirmation import (
    check_confirmation,
    check_open,
    has_changed,
    namespaces_of,
    proposed,
    record_confirmation,
)
from commands.core.context import Cluster, CommandContext, Defaults
from commands.core.parsing import action_of, find, words_of
from commands.core.permissions import Permissions
from commands.core.request import Actor, ActorKind, Request
from commands.models import AuditEntry, HandledRequest
from commands.plans.cluster_writer import ClusterWriter
from commands.plans.dry_run import dry_run
from commands.plans.plan import Plan, PlanState, Risk
from commands.plans.preconditions import StepFailedError
from commands.plans.preview import preview
from commands.store import Store

TIMEOUT = timedelta(seconds=20)  # for one command's looks and rehearsal


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """The road, with the sources it leads through. `writers` and `sites` are by cluster."""

    catalogue: Sequence[AnyCommand]
    permissions: Permissions
    store: Store
    clusters: Mapping[str, Cluster]
    writers: Mapping[str, ClusterWriter]
    clock: Clock
    defaults: Defaults
    rules: Callable[[], Mapping[str, Rule]]  # by id; they may be reloaded

    async def handle(self, request: Request) -> Answer | None:
        """Do what the line says, as far as it goes without a confirmation. None: there is nothing to answer.

        A gesture that was taken before gives None; so does everything from a guest.
        """
        async with self.store.unit() as unit:
            if not await unit.handled_requests.add(HandledRequest(id=request.id, at=request.at)):
                return None
        if request.actor.is_guest:
            return None
        cluster, command = self._first, None
        try:
            async with asyncio.timeout(TIMEOUT.total_seconds()):
                words, named = cluster_named(words_of(request.line))
                command = find(words, self.catalogue)
                async with self.store.unit() as unit:
                    home = await select_cluster(command, words, named, origin=request.origin, unit=unit)
                cluster = home or self._first
                return self._placed(await self._run(request, command, words, cluster), cluster)
        except DeniedError as error:
            await self._audit(request, cluster, "refused", str(error), plan=error.plan)
            return refused(str(error)) if str(error) else None
        except UnusableError as error:
            return refused(str(error))
        except SourceError as error:
            return refused(f"I could not look: {error}")
        except TimeoutError:
            # A commit that was given up may have landed.
            is_sure = command is None or command.record is None
            done = (
                "nothing was done"
                if is_sure
                else "whether it was done is not known: look before you try again"
            )
            return refused(f"That took longer than {TIMEOUT.total_seconds():.0f} s, so I gave up; {done}.")

    async def _run(
        self, request: Request, command: AnyCommand, words: Sequence[str], cluster: str
    ) -> Answer | None:
        context = await self._context(request, cluster)
        if (
            denied := self.permissions.refusal(request.actor, command, cluster=context.cluster.name)
        ) is not None:
            raise DeniedError(denied)
        action = action_of(command, words)
        if command.read is not None:
            return await command.read(action, context)
        await self._audit(request, cluster, "asked")
        if command.record is not None:
            return await command.record(action, context)
        plan, draft = await self._plan(command, action, context, line=request.line)
        if draft.nothing_to_do:
            return Answer(message=Message(title=markup(draft.nothing_to_do), color=Color.INFO))
        if request.actor.kind is ActorKind.AUTOMATION:
            await self._confirm(plan, by=request.actor.id)
            return None
        async with self.store.unit() as unit:
            await unit.plans.put(plan)
        return _previewed(plan, also=draft.alternatives)

    async def _plan(
        self, command: AnyCommand, action: Any, context: CommandContext, *, line: str
    ) -> tuple[Plan, PlanDraft]:
        assert command.plan is not None
        draft = await command.plan(action, context)
        denied = self.permissions.refusal(
            context.actor, command, cluster=context.cluster.name, namespaces=namespaces_of(draft.steps)
        )
        if denied is not None:
            raise DeniedError(denied)
        if draft.steps and (writer := self.writers.get(context.cluster.name)) is not None:
            try:
                await dry_run(draft.steps, writer)
            except StepFailedError as error:
                raise UnusableError(str(error)) from error
        return await self._proposed(command, draft, context, line), draft

    async def _proposed(
        self, command: AnyCommand, draft: PlanDraft, context: CommandContext, line: str
    ) -> Plan:
        number = 0
        if not draft.nothing_to_do:
            async with self.store.unit() as unit:
                number = await unit.next_number("plan")
        return proposed(command, draft, context, number=number, line=line, expires=self.defaults.plan_expires)

    async def confirm(self, id: str, *, hash: str, actor: Actor) -> Answer:
        """Confirm a proposed plan. It is planned anew: what is done is what was shown, or it is shown again."""
        async with self.store.unit() as unit:
            plan = await unit.plans.get(id)
        if plan is None:
            raise UnusableError(f"There is no plan `{id}`.")
        check_open(plan, self.clock.now())
        words, _ = cluster_named(words_of(plan.line))
        command = find(words, self.catalogue)
        denied = self.permissions.refusal(
            actor, command, cluster=plan.cluster, namespaces=namespaces_of(plan.steps)
        )
        if denied is not None:
            raise DeniedError(denied, plan=id)
        check_confirmation(plan, actor, hash)
        again = Request(
            id=f"{id}/confirm", line=plan.line, actor=actor, at=self.clock.now(), origin=plan.origin
        )
        context = await self._context(again, plan.cluster)
        if not command.checks_permission_itself:  # else it judges whoever presses the button, too
            # The deed stays its asker's, whoever confirms it: theirs is the lease, and the name on the node.
            context = replace(context, actor=replace(actor, id=plan.actor, name=plan.actor_name))
        draft = await self._redraft(command, words, context, plan)
        if draft.steps and has_changed(plan, draft):
            return await self._show_again(command, plan, draft, context)
        if draft.nothing_to_do:
            raise UnusableError(f"Nothing is left to do: {draft.nothing_to_do}")
        if not plan.is_fixed:  # the same deed, with its moments counted from now
            plan = replace(plan, steps=draft.steps)
        return await self._confirm(plan, by=actor.id)

    async def _redraft(
        self, command: AnyCommand, words: Sequence[str], context: CommandContext, plan: Plan
    ) -> PlanDraft:
        assert command.plan is not None
        if plan.is_fixed:
            return PlanDraft(title=plan.title, steps=plan.steps, disrupts=plan.disrupts)
        return await command.plan(action_of(command, words), context)

    async def _show_again(
        self, command: AnyCommand, plan: Plan, draft: PlanDraft, context: CommandContext
    ) -> Answer:
        moved = replace(
            draft, notes=("Facts have moved since the first preview: this is the plan now.", *draft.notes)
        )
        fresh = await self._proposed(command, moved, context, plan.line)
        fresh = replace(fresh, actor=plan.actor, actor_name=plan.actor_name)
        async with self.store.unit() as unit:
            kept = await unit.plans.get(plan.id)
            if kept is not None:
                check_open(kept, self.clock.now())  # it may have been confirmed while this was planned
            await unit.plans.put(
                replace(plan, state=PlanState.CANCELLED, error="facts moved", ended_at=context.now)
            )
            await unit.plans.put(fresh)
        return _previewed(fresh)

    async def _confirm(self, plan: Plan, *, by: str) -> Answer:
        async with self.store.unit() as unit:
            await record_confirmation(unit, plan, by=by, now=self.clock.now())
        return Answer(message=Message(title=text(f"{plan.title}: confirmed, it begins."), color=Color.BUSY))

    async def _context(self, request: Request, name: str) -> CommandContext:
        cluster = self.clusters.get(name)
        if cluster is None:
            known = ", ".join(sorted(self.clusters)) or "none: the settings list no clusters"
            raise UnusableError(f"There is no cluster `{name}`. Known: {known}.")
        may = {
            command.name: self.permissions.refusal(request.actor, command, cluster=name) is None
            for command in self.catalogue
        }
        return CommandContext(
            actor=request.actor,
            now=self.clock.now(),
            cluster=cluster,
            store=self.store,
            origin=request.origin,
            defaults=self.defaults,
            uploads=request.uploads,
            rules=self.rules(),
            may=may,
            refuse=partial(self._refusal, request.actor, name),
            confirm=self.confirm,
        )

    def _refusal(self, actor: Actor, cluster: str, name: str, namespaces: Sequence[str]) -> str | None:
        command = next((command for command in self.catalogue if command.name == name), None)
        if command is None:
            return f"there is no `{name}` in this version."
        # What anybody may ask for themselves is not given to them where it is another's.
        return self.permissions.refusal(
            actor, replace(command, checks_permission_itself=False), cluster=cluster, namespaces=namespaces
        )

    @property
    def _first(self) -> str:
        """The cluster of a line that says nothing of it."""
        return next(iter(self.clusters), "")

    def _placed(self, answer: Answer | None, cluster: str) -> Answer | None:
        if answer is None or len(self.clusters) < 2:
            return answer
        return replace(answer, message=with_cluster(answer.message, cluster))

    async def _audit(
        self, request: Request, cluster: str, what: str, reason: str = "", *, plan: str = ""
    ) -> None:
        entry = AuditEntry(
            id=f"{request.id}/{what}",
            cluster=cluster,
            at=self.clock.now(),
            actor=request.actor.id,
            actor_name=request.actor.name,
            line=request.line,
            what=what,
            plan=plan,
            text=reason,
        )
        async with self.store.unit() as unit:
            await unit.audit.put(entry)


def _previewed(plan: Plan, *, also: tuple[Button, ...] = ()) -> Answer:
    """The preview of a plan; one that needs a second person is for everybody to see."""
    return Answer(message=preview(plan, also=also), is_public=plan.risk is Risk.BREAK)


def refused(reason: str) -> Answer:
    """An answer that says why nothing was done."""
    return Answer(message=Message(title=markup(reason), color=Color.QUIET))
