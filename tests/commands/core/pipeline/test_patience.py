"""This file tests what is said of a line that takes too long: never that nothing was done when it may have been."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.store.memory_store import MemoryStore
from commands.plans.plan import PlanState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import Yard, a_node_tree, yard_before


class SlowStore:
    """A store whose commits land, and take their time to say so."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    @asynccontextmanager
    async def unit(self) -> AsyncGenerator[Any]:
        async with self._store.unit() as unit:
            yield unit
            found = await unit.plans.find(state=PlanState.CONFIRMED.value)
        if found:
            await asyncio.sleep(60)


async def test_a_confirmation_that_may_have_landed_is_not_denied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with KubernetesLookalike.running(controllers=False) as kube:
        kube.create(a_node_tree("gpu-a01"), keep_status=True)
        async with yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard:
            plan = await yard.plan("node cordon gpu-a01")
            monkeypatch.setattr("commands.core.pipeline.TIMEOUT", timedelta(seconds=0.3))
            yard.pipeline = replace(yard.pipeline, store=SlowStore(yard.store))
            said = await yard.say(f"plan confirm {plan.id}")
            assert await state(yard, plan.id) is PlanState.CONFIRMED
            assert "whether it was done is not known" in said
            assert "nothing was done" not in said


async def state(yard: Yard, id: str) -> PlanState | None:
    async with yard.store.unit() as unit:
        plan = await unit.plans.get(id)
    return plan.state if plan else None
