"""The journal of requests: which ones were begun, who asked for what, who was refused, and which are done."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from alerts.store import Store, StoreSnapshot, Unit
from collectors.facts.clock import Clock
from commands.core.request import Actor, ActorKind, Request
from commands.models import AuditEntry, HandledRequest, Person


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestJournal:
    store: Store
    clock: Clock

    async def begin(self, request: Request) -> bool:
        """Store that the request is being handled. Return False if it was, or if a resumed one is done."""
        async with self.store.unit() as unit:
            earlier = await unit.rows(HandledRequest).get(request.id)
            if earlier is not None and (earlier.is_done or not request.is_resumed):
                return False
            await unit.rows(HandledRequest).put(HandledRequest(id=request.id, at=request.at))
            await _note_person(request.actor, unit)
        return True

    async def note(
        self, request: Request, cluster: str, what: str, reason: str = "", *, plan: str = ""
    ) -> None:
        """Store what became of the request: `asked` or `refused`."""
        entry = AuditEntry(
            id=f"{request.id}/{what}",
            cluster=cluster,
            at=self.clock.now(),
            actor=request.actor.person,
            actor_name=request.actor.name,
            line=request.line,
            what=what,
            plan=plan,
            text=reason,
        )
        async with self.store.unit() as unit:
            await unit.rows(AuditEntry).add(entry)  # a resumed request has it


async def _note_person(actor: Actor, unit: Unit) -> None:
    """Store who this is, the first time. The ids of a person are the settings' matter."""
    if actor.kind is not ActorKind.AUTOMATION:
        person = Person(id=actor.person, ids=(actor.person,), name=actor.name)
        await unit.rows(Person).add(person)


@dataclass(frozen=True, slots=True)
class OnceStore:
    """A Store. A request that an earlier process began and did not answer must not have its effect twice."""

    store: Store
    request: Request

    def read(self) -> AbstractAsyncContextManager[StoreSnapshot]:
        return self.store.read()

    @asynccontextmanager
    async def unit(self) -> AsyncGenerator[Unit]:
        async with self.store.unit() as unit:
            yield unit
            await unit.rows(HandledRequest).put(
                HandledRequest(id=self.request.id, at=self.request.at, is_done=True)
            )
