"""The answer after a timeout: it never denies a change that may have landed."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from alerts.store import StoreSnapshot
from commands.execution.plan import Plan, PlanState
from tests.support.memory_store import MemoryStore
from tests.support.yard import Yard, yard_on


class SlowStore:
    """A store whose commits land but answer late."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def read(self) -> AbstractAsyncContextManager[StoreSnapshot]:
        return self._store.read()

    @asynccontextmanager
    async def unit(self) -> AsyncGenerator[Any]:
        async with self._store.unit() as unit:
            yield unit
            found = await unit.rows(Plan).find(state=PlanState.CONFIRMED.value)
        if found:
            await asyncio.sleep(60)


async def test_a_timeout_does_not_deny_a_confirmation_that_may_have_landed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with yard_on(tmp_path, "gpu-a01") as yard:
        plan = await yard.plan("node cordon gpu-a01")
        monkeypatch.setattr("commands.core.pipeline.TIMEOUT", timedelta(seconds=0.3))
        yard.pipeline = replace(yard.pipeline, store=SlowStore(yard.store))
        reply = await yard.say(f"plan confirm {plan.id} --hash {plan.hash}")
        assert await state(yard, plan.id) is PlanState.CONFIRMED
        assert "it is not known whether it was done" in reply
        assert "nothing was done" not in reply


async def state(yard: Yard, id: str) -> PlanState | None:
    async with yard.store.unit() as unit:
        plan = await unit.rows(Plan).get(id)
    return plan.state if plan else None
