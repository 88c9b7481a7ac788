"""This file tests that a release which its owner asked for stays theirs: nobody else confirms, cancels or undoes it."""

from dataclasses import replace

import pytest

from commands.core.permissions import Grant, Permissions
from commands.core.request import Actor
from commands.plans.plan import Plan, PlanState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.gpu.test_claims import asked, is_suspended
from tests.support.yard import ANA, DANA, Yard

EVE = Actor(id="U_EVE", name="eve", teams=frozenset({"oncall"}))
LIMITED = Permissions(
    teams={"sre": Grant(commands=("*",)), "oncall": Grant(commands=("plan *",))},
    automation={"reclaim": Grant(commands=("gpu settle",))},
)


@pytest.fixture
def yard(yard: Yard) -> Yard:
    """Ana, the owner, is given nothing; eve may confirm, cancel and undo what is given to her, which is nothing."""
    yard.pipeline = replace(yard.pipeline, permissions=LIMITED)
    return yard


async def kept(yard: Yard, plan: Plan) -> Plan:
    async with yard.store.unit() as unit:
        found = await unit.plans.get(plan.id)
    assert found is not None
    return found


async def released(yard: Yard, kube: KubernetesLookalike) -> Plan:
    """What the owner asked for and has not confirmed."""
    claim = await asked(yard, kube)
    return await yard.plan(f"gpu release {claim.id}", ANA)


@pytest.mark.parametrize("actor", [EVE, replace(EVE, teams=frozenset())], ids=["a team", "no team"])
async def test_nobody_else_confirms_it(yard: Yard, kube: KubernetesLookalike, actor: Actor) -> None:
    plan = await released(yard, kube)
    assert "is for ana to answer" in await yard.say(f"plan confirm {plan.id} --hash {plan.hash}", actor)
    assert (await kept(yard, plan)).state is PlanState.PROPOSED
    await yard.performer.execute(await yard.confirmed(plan, ANA))
    assert await is_suspended(kube)


async def test_nobody_else_cancels_it(yard: Yard, kube: KubernetesLookalike) -> None:
    plan = await released(yard, kube)
    assert "is ana's: gpu release is for sre" in await yard.say(f"plan cancel {plan.id}", EVE)
    assert (await kept(yard, plan)).state is PlanState.PROPOSED
    await yard.say(f"plan cancel {plan.id}", ANA)
    assert (await kept(yard, plan)).state is PlanState.CANCELLED


async def test_nobody_undoes_it_to_whom_it_is_not_given(yard: Yard, kube: KubernetesLookalike) -> None:
    plan = await released(yard, kube)
    await yard.performer.execute(await yard.confirmed(plan, ANA))
    assert "needs the right to do it" in await yard.say(f"plan undo {plan.id}", EVE)
    await yard.do(f"plan undo {plan.id}", DANA)
    assert not await is_suspended(kube)


async def test_the_owner_confirms_what_another_asked_for(yard: Yard, kube: KubernetesLookalike) -> None:
    claim = await asked(yard, kube)
    plan = await yard.plan(f"gpu release {claim.id}", DANA)
    await yard.performer.execute(await yard.confirmed(plan, ANA))
    assert await is_suspended(kube)


async def test_a_plan_of_a_command_that_is_gone_is_refused_in_words(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    """After an upgrade a plan may be of a command that this version does not have."""
    plan = await released(yard, kube)
    async with yard.store.unit() as unit:
        await unit.plans.put(replace(plan, command="gpu juggle"))
    assert "there is no gpu juggle in this version" in await yard.say(f"plan cancel {plan.id}", DANA)
