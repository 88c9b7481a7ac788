"""This file tests whose GPUs a line asks for: none in a namespace that is not given, and no more than it may."""

from dataclasses import replace

import pytest

from commands.core.permissions import Grant, Permissions
from commands.gpu import reclaim
from commands.plans.plan import PlanState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.gpu.conftest import measured, trained
from tests.support.yard import ANA, BO, DANA, Yard

LIMITED = Permissions(
    teams={
        "sre": Grant(commands=("*",)),
        "vision": Grant(commands=("gpu *",), namespaces=("vision-detr",)),
        "speech": Grant(commands=("gpu *",), namespaces=("speech-*",)),
    },
    automation={"reclaim": Grant(commands=("gpu settle",))},
)


@pytest.fixture
def yard(yard: Yard) -> Yard:
    """Speech may free GPUs in `speech-*` only, vision in `vision-detr` only."""
    yard.pipeline = replace(yard.pipeline, permissions=LIMITED)
    return yard


async def claimed(yard: Yard) -> list[str]:
    async with yard.store.unit() as unit:
        return [claim.training for claim in await unit.reclaim_requests.find()]


@pytest.mark.parametrize("line", ["gpu free", "gpu free detr"])
async def test_a_team_cannot_ask_for_gpus_in_namespaces_that_are_not_given_to_it(
    yard: Yard, kube: KubernetesLookalike, line: str
) -> None:
    await trained(yard, kube)
    measured(yard, {})
    said = await yard.say(line, BO)
    assert "Nobody is to be asked: vision-detr/detr: gpu free is not given to you there." in said
    assert await yard.newest() is None
    async with yard.store.unit() as unit:
        assert [entry.what for entry in await unit.audit.find(actor=BO.id)] == ["asked", "refused"]


async def test_what_is_not_given_is_left_out_and_named(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube)
    await trained(yard, kube, "vit", workers=1)
    measured(yard, {}, names=("detr", "vit"))
    plan = await yard.do("gpu free", ANA)
    assert plan.state is PlanState.DONE, plan.error
    assert await claimed(yard) == ["vision-detr/detr"]
    assert "vision-vit/vit: `gpu free` is not given to you there" in plan.notes


async def test_who_may_not_ask_there_may_not_confirm_it_either(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube)
    measured(yard, {})
    plan = await yard.plan("gpu free", DANA)
    said = await yard.say(f"plan confirm {plan.id} --hash {plan.hash}", BO)
    assert "gpu free is given to you, but not in namespace vision-detr" in said
    await yard.confirmed(plan, ANA)


async def test_asking_is_offered_only_where_it_is_given(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube)
    measured(yard, {})
    assert "Ask the owner" in await yard.say("gpu idle", ANA)
    assert "Ask the owner" not in await yard.say("gpu idle", BO)


async def test_what_one_line_cannot_ask_for_is_counted(
    yard: Yard, kube: KubernetesLookalike, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reclaim, "AT_MOST", 1)
    await trained(yard, kube)
    await trained(yard, kube, "vit", workers=1)
    measured(yard, {}, names=("detr", "vit"))
    plan = await yard.do("gpu free", DANA)
    assert await claimed(yard) == ["vision-detr/detr"]
    assert "1 more trainings: one line asks for 1 at most, write it again for these" in plan.notes
    await yard.do("gpu free", DANA)
    assert await claimed(yard) == ["vision-detr/detr", "vision-vit/vit"]
