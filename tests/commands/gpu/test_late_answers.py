"""Answers to a request while it is being settled."""

from typing import Any

import pytest

from commands.execution.dry_run import dry_run
from commands.execution.plan import Plan, PlanState
from commands.models import DueCommand, ReclaimState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.gpu.conftest import an_agenda
from tests.commands.gpu.test_reclaim import is_suspended, the_request
from tests.commands.gpu.test_settling import due_request
from tests.support.yard import ANA, Yard


@pytest.mark.parametrize("verb", ["keep", "snooze", "release"])
async def test_an_answer_after_the_settlement_was_planned_is_refused(
    yard: Yard, kube: KubernetesLookalike, verb: str
) -> None:
    request = await due_request(yard, kube)
    await an_agenda(yard).run_due()
    async with yard.store.unit() as unit:
        (plan,) = await unit.rows(Plan).find(state=PlanState.CONFIRMED.value)
    reply = await yard.say(f"gpu {verb} {request.id}", ANA)
    assert f"is being settled by plan {plan.id}" in reply
    await yard.executor.execute(plan)
    assert (await the_request(yard)).state is ReclaimState.FREED
    assert await is_suspended(kube)


async def test_an_answer_during_planning_counts(
    yard: Yard, kube: KubernetesLookalike, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = await due_request(yard, kube)

    async def slow(*steps: Any) -> Any:
        waits = await dry_run(*steps)
        assert "Kept" in await yard.say(f"gpu keep {request.id}", ANA)
        return waits

    monkeypatch.setattr("commands.core.drafting.dry_run", slow)
    await an_agenda(yard).run_due()
    async with yard.store.unit() as unit:
        assert not await unit.rows(Plan).find(state=PlanState.CONFIRMED.value)
        assert not await unit.rows(DueCommand).find()
    assert (await the_request(yard)).state is ReclaimState.KEPT
    assert not await is_suspended(kube)
