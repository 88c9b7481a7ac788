"""This file tests answers that come while the claim is being settled: what is said to the owner is what is so."""

from typing import Any

import pytest

from bot.jobs.agenda import Agenda
from commands.models import ReclaimState
from commands.plans.dry_run import dry_run
from commands.plans.plan import PlanState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.gpu.test_claims import is_suspended, the_claim
from tests.commands.gpu.test_settling import due_claim
from tests.support.yard import ANA, Yard


@pytest.mark.parametrize("verb", ["keep", "snooze", "release"])
async def test_an_answer_after_the_plan_was_made_is_not_taken(
    yard: Yard, kube: KubernetesLookalike, verb: str
) -> None:
    claim = await due_claim(yard, kube)
    await Agenda(yard.store, yard.clock, yard.pipeline.handle).look()
    async with yard.store.unit() as unit:
        (plan,) = await unit.plans.find(state=PlanState.CONFIRMED.value)
    said = await yard.say(f"gpu {verb} {claim.id}", ANA)
    assert f"is being settled, by plan {plan.id}" in said
    await yard.performer.execute(plan)
    assert (await the_claim(yard)).state is ReclaimState.FREED
    assert await is_suspended(kube)


async def test_an_answer_while_the_plan_is_made_is_heard(
    yard: Yard, kube: KubernetesLookalike, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = await due_claim(yard, kube)

    async def slow(*steps: Any) -> None:
        await dry_run(*steps)
        assert "Kept" in await yard.say(f"gpu keep {claim.id}", ANA)

    monkeypatch.setattr("commands.core.pipeline.dry_run", slow)
    await Agenda(yard.store, yard.clock, yard.pipeline.handle).look()
    async with yard.store.unit() as unit:
        assert not await unit.plans.find(state=PlanState.CONFIRMED.value)
        assert not await unit.agenda.find()
    assert (await the_claim(yard)).state is ReclaimState.KEPT
    assert not await is_suspended(kube)
