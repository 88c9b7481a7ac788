"""The store of a command that records something: it notes with each effect that the request is done."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from alerts.store import Store, StoreSnapshot, Unit
from commands.core.request import Request
from commands.models import HandledRequest


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
