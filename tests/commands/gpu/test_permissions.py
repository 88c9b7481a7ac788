"""Permissions of `gpu free`: no requests in namespaces without a grant."""

from dataclasses import replace

import pytest

from commands.core.grant import Grant
from commands.core.permissions import Permissions
from commands.execution.plan import PlanState
from commands.gpu import reclaim
from commands.models import AuditEntry, ReclaimRequest
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


async def requested(yard: Yard) -> list[str]:
    async with yard.store.unit() as unit:
        return [request.shown for request in await unit.rows(ReclaimRequest).find()]


@pytest.mark.parametrize("line", ["gpu free", "gpu free detr"])
async def test_a_team_cannot_request_gpus_in_namespaces_without_a_grant(
    yard: Yard, kube: KubernetesLookalike, line: str
) -> None:
    await trained(yard, kube)
    measured(yard, {})
    reply = await yard.say(line, BO)
    assert (
        "There is nothing to request: vision-detr/detr: you are not allowed to run gpu free there." in reply
    )
    assert await yard.newest() is None
    async with yard.store.unit() as unit:
        assert [entry.what for entry in await unit.rows(AuditEntry).find(actor=BO.id)] == ["asked", "refused"]


async def test_trainings_without_a_grant_are_skipped_and_named(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube, owner="mei")
    await trained(yard, kube, "vit", owner="mei", workers=1)
    measured(yard, {}, names=("detr", "vit"))
    plan = await yard.do("gpu free", ANA)
    assert plan.state is PlanState.DONE, plan.error
    assert await requested(yard) == ["vision-detr/detr"]
    assert "vision-vit/vit: you are not allowed to run `gpu free` there" in plan.notes


async def test_confirming_needs_a_grant_in_the_namespace(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube)
    measured(yard, {})
    plan = await yard.plan("gpu free", DANA)
    reply = await yard.say(f"plan confirm {plan.id} --hash {plan.hash}", BO)
    assert "You may run gpu free, but not in namespace vision-detr" in reply
    await yard.confirmed(plan, ANA)


async def test_the_request_button_needs_a_grant(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube, owner="mei")
    measured(yard, {})
    assert "Ask the owner" in await yard.say("gpu idle", ANA)
    assert "Ask the owner" not in await yard.say("gpu idle", BO)


async def test_trainings_beyond_the_limit_per_command_are_counted(
    yard: Yard, kube: KubernetesLookalike, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reclaim, "MAX_REQUESTS", 1)
    await trained(yard, kube)
    await trained(yard, kube, "vit", workers=1)
    measured(yard, {}, names=("detr", "vit"))
    plan = await yard.do("gpu free", DANA)
    assert await requested(yard) == ["vision-detr/detr"]
    assert "1 more training: 1 per command at most; run it again for it" in plan.notes
    await yard.do("gpu free", DANA)
    assert await requested(yard) == ["vision-detr/detr", "vision-vit/vit"]
