"""Commits of running plans: what plans that run side by side have to store shares transactions.

A plan waits until its part is committed, as if it had a transaction of its own, so a crash leaves what it always left.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from alerts.store import Store, StoreError, Unit
from commands.execution.plan import Plan, PlanState

T = TypeVar("T")
Stopping = Mapping[str, Plan]  # by id: those about which a transaction is that were cancelled while they ran
Change = Callable[
    [Unit, Stopping], Awaitable[T]
]  # a part of a transaction; it may be run again in another one

Reads = Sequence[tuple[type[Any], str]]  # rows that a change is going to get, by their type and id

MOST = 200  # parts of one transaction


@dataclass(frozen=True, slots=True)
class _Part:
    plan: str
    change: Change[Any]
    reads: Reads
    done: "asyncio.Future[Any]"

    def fail(self, error: BaseException) -> None:
        if not self.done.done():
            self.done.set_exception(error)

    def succeed(self, result: Any) -> None:
        if not self.done.done():
            self.done.set_result(result)


class PlanCommits:
    """Collects changes while a transaction is open; the next transaction has all of them, in their order.

    Whoever waits first commits for all that wait; the others find theirs done.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._parts: list[_Part] = []
        self._alone = asyncio.Lock()

    async def run(self, plan: str, change: Change[T], reads: Reads = ()) -> T:
        """Return what the change returns, once it is committed. Raises what it, or the commit, raises.

        `plan`: the id of the plan that it is about. The change is given it if it was cancelled while it ran.
        `reads`: they are read for all that are committed together, so that each finds its own in the transaction.
        """
        part = _Part(plan, change, reads, asyncio.get_running_loop().create_future())
        self._parts.append(part)
        try:
            async with self._alone:
                while not part.done.done():
                    await asyncio.sleep(0)  # what others are about to add goes along
                    parts, self._parts = self._parts[:MOST], self._parts[MOST:]
                    await self._commit([one for one in parts if not one.done.done()])
        except BaseException:
            part.done.cancel()  # who waited for it is gone
            raise
        result: T = await part.done
        return result

    async def _commit(self, parts: Sequence[_Part]) -> None:
        """Commit the parts together. If one of them cannot be, each is tried by itself."""
        if not parts:
            return
        try:
            async with self._store.unit() as unit:
                stopping = await _stopping({part.plan for part in parts}, unit)
                await _read(parts, unit)
                results = [await part.change(unit, stopping) for part in parts]
        except Exception as error:
            if len(parts) > 1 and not isinstance(error, StoreError):
                for part in parts:
                    await self._commit((part,))
                return
            for part in parts:
                part.fail(error)
            return
        except BaseException:  # this task ends: another that waits commits what is not its own
            self._parts = [*parts, *self._parts]
            raise
        for part, result in zip(parts, results, strict=True):
            part.succeed(result)


async def _stopping(ids: Collection[str], unit: Unit) -> Stopping:
    """Return those of these plans that were cancelled and whose step in progress ends: hardly ever one."""
    found = await unit.rows(Plan).find(id=ids, state=PlanState.CANCELLED.value, ended_at="")
    return {plan.id: plan for plan in found}


async def _read(parts: Sequence[_Part], unit: Unit) -> None:
    """Read what the parts are going to get, in one statement for each type of row."""
    ids: dict[type[Any], list[str]] = {}
    for row, id in (one for part in parts for one in part.reads):
        ids.setdefault(row, []).append(id)
    for row, wanted in ids.items():
        await unit.rows(row).get_all(wanted)
