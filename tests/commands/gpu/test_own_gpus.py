"""`gpu free` by the owner: a person is not asked for their own consent, and other owners still are."""

from collections.abc import Sequence

import pytest

from commands.core.request import Actor
from commands.execution.plan import Plan, PlanState
from commands.models import ReclaimRequest, ReclaimState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.gpu.conftest import measured, trained
from tests.commands.gpu.test_reclaim import asked, dues, is_suspended, the_request
from tests.support.yard import ANA, DANA, Yard

OWNER = Actor(id=ANA.id, name=ANA.name, teams=DANA.teams)  # ana, with the rights of dana's team


async def requests(yard: Yard) -> Sequence[ReclaimRequest]:
    async with yard.store.unit() as unit:
        return list(await unit.rows(ReclaimRequest).find())


async def plan_of(yard: Yard, line: str, actor: Actor) -> Plan:
    plan = await yard.plan(line, actor)
    assert plan.state is PlanState.PROPOSED
    return plan


async def test_the_owner_frees_them_at_once_after_a_preview_that_says_so(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await trained(yard, kube)
    measured(yard, {})
    plan = await plan_of(yard, "gpu free detr", OWNER)
    assert plan.title == "Free 8 idle GPUs of vision-detr/detr"
    assert "is yours (no work on any of 8 GPUs for 30 min" in plan.notes[0]
    assert "it is suspended at once, and nobody is asked" in plan.notes[0]
    assert [one.shown for one in plan.disrupts] == ["vision-detr/detr"]
    assert not await is_suspended(kube)
    done = await yard.executor.execute(await yard.confirmed(plan, OWNER))
    assert done.state is PlanState.DONE, done.error
    assert await is_suspended(kube)
    assert not await requests(yard)
    assert not await dues(yard)
    assert done.relieves == ("GPUIdle",)
    await yard.do(f"plan undo {plan.id}", OWNER)
    assert not await is_suspended(kube)


async def test_a_request_of_somebody_else_is_answered_by_it(yard: Yard, kube: KubernetesLookalike) -> None:
    await asked(yard, kube)
    await yard.do("gpu free detr", OWNER)
    assert await is_suspended(kube)
    freed = await the_request(yard)
    assert (freed.state, freed.answered_by) == (ReclaimState.FREED, "U_ANA")
    assert not await dues(yard)


async def test_only_the_owners_of_others_are_asked(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube)
    await trained(yard, kube, "segment", owner="mei", workers=1)
    measured(yard, {}, names=("detr", "segment"))
    plan = await plan_of(yard, "gpu free", OWNER)
    assert (
        plan.title == "Free 8 idle GPUs of vision-detr/detr; Request 4 idle GPUs from vision-segment/segment"
    )
    await yard.executor.execute(await yard.confirmed(plan, OWNER))
    assert await is_suspended(kube)
    assert [one.name for one in await requests(yard)] == ["vision-segment/segment"]


@pytest.mark.parametrize(
    "actor",
    [
        pytest.param(DANA, id="somebody else"),
        pytest.param(
            Actor(id="U_EVE", name="ana", teams=DANA.teams), id="somebody who took the owner's name"
        ),
    ],
)
async def test_who_is_not_the_owner_asks(yard: Yard, kube: KubernetesLookalike, actor: Actor) -> None:
    await trained(yard, kube)
    measured(yard, {})
    plan = await yard.do("gpu free detr", actor)
    assert plan.relieves == ()
    assert not await is_suspended(kube)
    assert (await the_request(yard)).state is ReclaimState.ASKED
