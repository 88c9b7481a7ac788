"""A release planned by the owner: others cannot confirm, cancel or undo it."""

from dataclasses import replace

import pytest

from commands.core.grant import Grant
from commands.core.permissions import Permissions
from commands.core.request import Actor
from commands.execution.plan import Plan, PlanState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.gpu.test_reclaim import asked, is_suspended
from tests.support.yard import ANA, DANA, Yard

EVE = Actor(id="U_EVE", name="eve", teams=frozenset({"oncall"}))
LIMITED = Permissions(
    teams={"sre": Grant(commands=("*",)), "oncall": Grant(commands=("plan *",))},
    automation={"reclaim": Grant(commands=("gpu settle",))},
)


@pytest.fixture
def yard(yard: Yard) -> Yard:
    """Ana, the owner, has no grant; eve has only the `plan` commands."""
    yard.pipeline = replace(yard.pipeline, permissions=LIMITED)
    return yard


async def released(yard: Yard, kube: KubernetesLookalike) -> Plan:
    """Return the plan proposed for the owner, not yet confirmed."""
    request = await asked(yard, kube)
    return await yard.plan(f"gpu release {request.id}", ANA)


@pytest.mark.parametrize("actor", [EVE, replace(EVE, teams=frozenset())], ids=["a team", "no team"])
async def test_others_cannot_confirm_it(yard: Yard, kube: KubernetesLookalike, actor: Actor) -> None:
    plan = await released(yard, kube)
    assert "Only ana, or someone who may run" in await yard.say(
        f"plan confirm {plan.id} --hash {plan.hash}", actor
    )
    assert (await yard.stored(plan.id)).state is PlanState.PROPOSED
    await yard.executor.execute(await yard.confirmed(plan, ANA))
    assert await is_suspended(kube)


async def test_others_cannot_cancel_it(yard: Yard, kube: KubernetesLookalike) -> None:
    plan = await released(yard, kube)
    assert "belongs to ana. Only sre may run gpu release" in await yard.say(f"plan cancel {plan.id}", EVE)
    assert (await yard.stored(plan.id)).state is PlanState.PROPOSED
    await yard.say(f"plan cancel {plan.id}", ANA)
    assert (await yard.stored(plan.id)).state is PlanState.CANCELLED


async def test_undoing_it_needs_a_grant(yard: Yard, kube: KubernetesLookalike) -> None:
    plan = await released(yard, kube)
    await yard.executor.execute(await yard.confirmed(plan, ANA))
    assert "you must be allowed to run it" in await yard.say(f"plan undo {plan.id}", EVE)
    await yard.do(f"plan undo {plan.id}", DANA)
    assert not await is_suspended(kube)


async def test_the_owner_can_confirm_a_plan_of_someone_else(yard: Yard, kube: KubernetesLookalike) -> None:
    request = await asked(yard, kube)
    plan = await yard.plan(f"gpu release {request.id}", DANA)
    await yard.executor.execute(await yard.confirmed(plan, ANA))
    assert await is_suspended(kube)


async def test_a_plan_of_a_removed_command_is_refused_with_a_reason(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    """After an upgrade the command of a plan may no longer exist."""
    plan = await released(yard, kube)
    async with yard.store.unit() as unit:
        await unit.rows(Plan).put(replace(plan, command="gpu juggle"))
    assert "this version has no command gpu juggle" in await yard.say(f"plan cancel {plan.id}", DANA)
