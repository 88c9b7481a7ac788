"""This file has the one road of every command line: parse, permit, plan, confirm, journal, answer.

What the performer does with a confirmed plan is in `performing.py`; the road ends by putting it in the journal.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

from alerts.cards.message import Color, Message, text
from alerts.rules import Rule
from collectors.facts.clock import Clock
from collectors.facts.errors import SourceError
from collectors.facts.people import Actor, ActorKind
from commands.cluster import ClusterWriter
from commands.command import Answer, AnyCommand, DeniedError, Draft, UnusableError
from commands.confirming import (
    has_moved,
    must_be_open,
    must_be_the_one,
    namespaces_of,
    proposed,
    record_confirmation,
)
from commands.desk import Desk, Policy, Site
from commands.parsing import deed_of, find, words_of
from commands.permissions import Permissions
from commands.placing import at_cluster, cluster_named, cluster_of
from commands.plans import Plan, PlanState
from commands.previews import preview
from commands.rehearsing import rehearse
from commands.requests import Request
from commands.rows import AuditEntry, HandledRequest
from commands.spoken import spoken
from commands.stores import Store

PATIENCE = timedelta(seconds=20)  # for one command's looks and rehearsal


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """The road, with the sources it leads through. `writers` and `sites` are by cluster."""

    catalogue: Sequence[AnyCommand]
    permissions: Permissions
    store: Store
    sites: Mapping[str, Site]
    writers: Mapping[str, ClusterWriter]
    clock: Clock
    policy: Policy
    rules: Callable[[], Mapping[str, Rule]]  # by id; they may be reloaded

    async def take(self, request: Request) -> Answer | None:
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
            async with asyncio.timeout(PATIENCE.total_seconds()):
                words, named = cluster_named(words_of(request.line))
                command = find(words, self.catalogue)
                async with self.store.unit() as unit:
                    home = await cluster_of(command, words, named, origin=request.origin, unit=unit)
                cluster = home or self._first
                return self._placed(await self._run(request, command, words, cluster), cluster)
        except DeniedError as why:
            await self._note(request, cluster, "refused", str(why), plan=why.plan)
            return refused(str(why)) if str(why) else None
        except UnusableError as why:
            return refused(str(why))
        except SourceError as why:
            return refused(f"I could not look: {why}")
        except TimeoutError:
            # A commit that was given up may have landed.
            is_sure = command is None or command.note is None
            done = (
                "nothing was done"
                if is_sure
                else "whether it was done is not known: look before you try again"
            )
            return refused(f"That took longer than {PATIENCE.total_seconds():.0f} s, so I gave up; {done}.")

    async def _run(
        self, request: Request, command: AnyCommand, words: Sequence[str], cluster: str
    ) -> Answer | None:
        desk = await self._desk(request, cluster)
        if (denied := self.permissions.refusal(request.actor, command, cluster=desk.site.name)) is not None:
            raise DeniedError(denied)
        deed = deed_of(command, words)
        if command.look is not None:
            return await command.look(deed, desk)
        await self._note(request, cluster, "asked")
        if command.note is not None:
            return await command.note(deed, desk)
        plan, draft = await self._plan(command, deed, desk, line=request.line)
        if draft.nothing:
            return Answer(message=Message(title=spoken(draft.nothing), color=Color.INFO))
        if request.actor.kind is ActorKind.AUTOMATION:
            await self._confirm(plan, by=request.actor.id)
            return None
        async with self.store.unit() as unit:
            await unit.plans.put(plan)
        return preview(plan, also=draft.also)

    async def _plan(self, command: AnyCommand, deed: Any, desk: Desk, *, line: str) -> tuple[Plan, Draft]:
        assert command.plan is not None
        draft = await command.plan(deed, desk)
        denied = self.permissions.refusal(
            desk.actor, command, cluster=desk.site.name, namespaces=namespaces_of(draft.steps)
        )
        if denied is not None:
            raise DeniedError(denied)
        if draft.steps and (writer := self.writers.get(desk.site.name)) is not None:
            await rehearse(draft.steps, writer)
        return await self._proposed(command, draft, desk, line), draft

    async def _proposed(self, command: AnyCommand, draft: Draft, desk: Desk, line: str) -> Plan:
        number = 0
        if not draft.nothing:
            async with self.store.unit() as unit:
                number = await unit.next_number("plan")
        return proposed(command, draft, desk, number=number, line=line, expires=self.policy.plan_expires)

    async def confirm(self, id: str, *, hash: str, actor: Actor) -> Answer:
        """Confirm a proposed plan. It is planned anew: what is done is what was shown, or it is shown again."""
        async with self.store.unit() as unit:
            plan = await unit.plans.get(id)
        if plan is None:
            raise UnusableError(f"There is no plan `{id}`.")
        must_be_open(plan, self.clock.now())
        words, _ = cluster_named(words_of(plan.line))
        command = find(words, self.catalogue)
        denied = self.permissions.refusal(
            actor, command, cluster=plan.cluster, namespaces=namespaces_of(plan.steps)
        )
        if denied is not None:
            raise DeniedError(denied, plan=id)
        must_be_the_one(plan, actor, hash)
        again = Request(
            id=f"{id}/confirm", line=plan.line, actor=actor, at=self.clock.now(), origin=plan.origin
        )
        desk = await self._desk(again, plan.cluster)
        if not command.judges_itself:  # else it judges whoever presses the button, too
            # The deed stays its asker's, whoever confirms it: theirs is the lease, and the name on the node.
            desk = replace(desk, actor=replace(actor, id=plan.actor, name=plan.actor_name))
        draft = await self._redraft(command, words, desk, plan)
        if draft.steps and has_moved(plan, draft):
            return await self._show_again(command, plan, draft, desk)
        if draft.nothing:
            raise UnusableError(f"Nothing is left to do: {draft.nothing}")
        if not plan.keeps_its_draft:  # the same deed, with its moments counted from now
            plan = replace(plan, steps=draft.steps)
        return await self._confirm(plan, by=actor.id)

    async def _redraft(self, command: AnyCommand, words: Sequence[str], desk: Desk, plan: Plan) -> Draft:
        assert command.plan is not None
        if plan.keeps_its_draft:
            return Draft(title=plan.title, steps=plan.steps, victims=plan.victims)
        return await command.plan(deed_of(command, words), desk)

    async def _show_again(self, command: AnyCommand, plan: Plan, draft: Draft, desk: Desk) -> Answer:
        moved = replace(
            draft, notes=("Facts have moved since the first preview: this is the plan now.", *draft.notes)
        )
        fresh = await self._proposed(command, moved, desk, plan.line)
        fresh = replace(fresh, actor=plan.actor, actor_name=plan.actor_name)
        async with self.store.unit() as unit:
            kept = await unit.plans.get(plan.id)
            if kept is not None:
                must_be_open(kept, self.clock.now())  # it may have been confirmed while this was planned
            await unit.plans.put(
                replace(plan, state=PlanState.CANCELLED, trouble="facts moved", ended_at=desk.now)
            )
            await unit.plans.put(fresh)
        return preview(fresh)

    async def _confirm(self, plan: Plan, *, by: str) -> Answer:
        async with self.store.unit() as unit:
            await record_confirmation(unit, plan, by=by, now=self.clock.now())
        return Answer(message=Message(title=text(f"{plan.title}: confirmed, it begins."), color=Color.BUSY))

    async def _desk(self, request: Request, cluster: str) -> Desk:
        site = self.sites.get(cluster)
        if site is None:
            known = ", ".join(sorted(self.sites)) or "none: the settings list no clusters"
            raise UnusableError(f"There is no cluster `{cluster}`. Known: {known}.")
        may = {
            command.name: self.permissions.refusal(request.actor, command, cluster=cluster) is None
            for command in self.catalogue
        }
        return Desk(
            actor=request.actor,
            now=self.clock.now(),
            site=site,
            store=self.store,
            origin=request.origin,
            policy=self.policy,
            uploads=request.uploads,
            rules=self.rules(),
            may=may,
            judge=partial(self._judge, request.actor, cluster),
            confirm=self.confirm,
        )

    def _judge(self, actor: Actor, cluster: str, name: str, namespaces: Sequence[str]) -> str | None:
        command = next((command for command in self.catalogue if command.name == name), None)
        if command is None:
            return f"there is no `{name}` in this version."
        # What anybody may ask for themselves is not given to them where it is another's.
        return self.permissions.refusal(
            actor, replace(command, judges_itself=False), cluster=cluster, namespaces=namespaces
        )

    @property
    def _first(self) -> str:
        """The cluster of a line that says nothing of it."""
        return next(iter(self.sites), "")

    def _placed(self, answer: Answer | None, cluster: str) -> Answer | None:
        if answer is None or len(self.sites) < 2:
            return answer
        return replace(answer, message=at_cluster(answer.message, cluster))

    async def _note(
        self, request: Request, cluster: str, what: str, why: str = "", *, plan: str = ""
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
            text=why,
        )
        async with self.store.unit() as unit:
            await unit.audit.put(entry)


def refused(why: str) -> Answer:
    """An answer that says why nothing was done."""
    return Answer(message=Message(title=spoken(why), color=Color.QUIET))
