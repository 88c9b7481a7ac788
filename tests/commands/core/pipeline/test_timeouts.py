"""The answer after a timeout: it never denies a change that may have landed."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from alerts.store import StoreSnapshot
from commands.execution.plan import Plan, PlanState
from tests.support.memory_store import MemoryStore
from tests.support.yard import Yard, yard_on


class SlowStore:
    """A store whose commits land but answer late: after the command's time is up, which `is_up` is called for."""

    def __init__(self, store: MemoryStore, is_up: Callable[[], None]) -> None:
        self._store = store
        self._is_up = is_up

    def read(self) -> AbstractAsyncContextManager[StoreSnapshot]:
        return self._store.read()

    @asynccontextmanager
    async def unit(self) -> AsyncGenerator[Any]:
        async with self._store.unit() as unit:
            yield unit
            found = await unit.rows(Plan).find(state=PlanState.CONFIRMED.value)
        if found:
            self._is_up()
            await asyncio.sleep(60)


async def test_a_timeout_does_not_deny_a_confirmation_that_may_have_landed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with yard_on(tmp_path, "gpu-a01") as yard:
        plan = await yard.plan("node cordon gpu-a01")
        limits: list[asyncio.Timeout] = []

        def limit(seconds: float | None) -> asyncio.Timeout:
            limits.append(asyncio.timeout_at(seconds and asyncio.get_running_loop().time() + seconds))
            return limits[-1]

        def is_up() -> None:
            limits[0].reschedule(asyncio.get_running_loop().time())  # of the command: it was set first

        monkeypatch.setattr("asyncio.timeout", limit)
        yard.pipeline = replace(yard.pipeline, store=SlowStore(yard.store, is_up))
        reply = await yard.say(f"plan confirm {plan.id} --hash {plan.hash}")
        assert await state(yard, plan.id) is PlanState.CONFIRMED
        assert "it is not known whether it was done" in reply
        assert "nothing was done" not in reply


async def state(yard: Yard, id: str) -> PlanState | None:
    async with yard.store.unit() as unit:
        plan = await unit.rows(Plan).get(id)
    return plan.state if plan else None
