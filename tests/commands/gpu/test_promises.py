"""Previews promise only what will be done, and say what was tried."""

from dataclasses import replace

import pytest

from commands.core.grant import Grant
from commands.core.permissions import Permissions
from commands.gpu.reclaim_card import reclaim_card
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.gpu.conftest import measured, trained
from tests.commands.gpu.test_reclaim import MINUTE, dues, is_suspended, the_request
from tests.support.yard import ANA, DANA, Yard, text_of

NOTHING = "Without an answer nothing happens by itself"


@pytest.mark.parametrize(
    "automation",
    [
        pytest.param({}, id="no automation"),
        pytest.param({"reclaim": Grant(commands=("gpu settle",), namespaces=("speech-*",))}, id="elsewhere"),
    ],
)
async def test_without_automation_nothing_is_promised_and_nothing_is_due(
    yard: Yard, kube: KubernetesLookalike, automation: dict[str, Grant]
) -> None:
    permissions = Permissions(teams={"sre": Grant(commands=("*",))}, automation=automation)
    yard.pipeline = replace(yard.pipeline, permissions=permissions)
    await trained(yard, kube)
    measured(yard, {})
    plan = await yard.plan("gpu free --grace 30m", DANA)
    assert NOTHING in plan.notes[0]
    await yard.executor.execute(await yard.confirmed(plan))
    request = await the_request(yard)
    for moved in range(2):
        assert not await dues(yard)
        shown = text_of(reclaim_card(request, yard.clock.now()))
        assert NOTHING in shown
        assert "Release them" in shown, moved
        yard.clock.move(60 * MINUTE)
    await yard.say(f"gpu snooze {request.id} --for 1h", ANA)
    assert not await dues(yard)
    assert NOTHING in text_of(reclaim_card(await the_request(yard), yard.clock.now()))
    assert not await is_suspended(kube)


async def test_a_preview_says_that_the_server_accepted_a_dry_run_only_where_it_did(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    assert "The API server accepted a dry run. Nothing is done yet" in await yard.say("node cordon gpu-a01")
    await trained(yard, kube)
    measured(yard, {})
    shown = await yard.say("gpu free --grace 30m", DANA)  # which only records
    assert "Nothing is done yet" in shown
    assert "dry run" not in shown


async def test_a_cordon_says_that_a_training_on_a_lost_gpu_will_probably_die(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await trained(yard, kube)
    (training,) = yard.cluster.trainings()
    node = training.ranks[0].node
    assert "runs on" in await yard.say(f"node cordon {node}")
    status = {"allocatable": {"nvidia.com/gpu": "7"}}
    kube.patch("nodes", "", node, {"status": status}, status=True)
    await yard.seen(
        lambda: (yard.cluster.inventory().nodes[node].status.allocatable or {})["nvidia.com/gpu"] == "7"
    )
    yard.prometheus.say(
        "training_checkpoint_timestamp_seconds", samples=[({}, yard.clock.now().timestamp() - 41)]
    )
    said = await yard.say(f"node cordon {node}")
    assert (
        f"vision-detr/detr of ana (8 GPUs) is on {node} and will probably die (1 of its GPUs is out of service): a "
        "cordon does not move it. Its last checkpoint is 41 s old: work since then is lost."
    ) in said


async def test_the_audit_names_whoever_confirms(yard: Yard) -> None:
    plan = await yard.plan("node cordon gpu-a01", DANA)
    eli = replace(DANA, id="U0ELI00000", name="eli")
    await yard.confirmed(plan, eli)
    shown = await yard.say("audit")
    assert "eli | confirmed" in shown
    assert "U0ELI00000" not in shown
    assert "confirmed by: eli" in await yard.say(f"plan show {plan.id}")
