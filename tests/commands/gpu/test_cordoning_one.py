"""`gpu cordon` and `gpu uncordon` on the look-alike and on a real control plane, whose GPUs are given by claims."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from alerts.cards.text import plain
from bot.jobs.gpu_lease_reminder import GpuLeaseReminder, gpu_reminder
from commands.core.cordoned_nodes import BY
from commands.execution.executor import PlanExecutor
from commands.execution.plan import PlanState
from commands.execution.steps import Create
from tests.support.claimed_gpus import DRIVER, RULES, GpuStage, a_device, gpu_stage
from tests.support.drained import ON_BOTH_SERVERS, quick
from tests.support.yard import NOON


@pytest.fixture(params=ON_BOTH_SERVERS)
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[GpuStage]:
    async with gpu_stage(request, tmp_path) as made:
        yield made


async def test_one_gpu_is_cordoned_its_pods_are_evicted_and_the_others_go_on(stage: GpuStage) -> None:
    await stage.list_devices(*map(a_device, range(8)))
    await stage.give("slow", "gpu-3")
    await stage.give("fine", "gpu-4")

    plan = await stage.yard.do(f'gpu cordon {stage.node} 3 --reason "throttles"')

    assert plan.state is PlanState.DONE, plan.error
    (rule,) = await stage.rules()
    assert rule["spec"]["deviceSelector"] == {"driver": DRIVER, "pool": stage.node, "device": "gpu-3"}
    assert rule["spec"]["taint"]["effect"] == "NoSchedule"
    assert rule["metadata"]["annotations"][BY] == "dana"
    assert await stage.pods() == ["fine"]
    (lease,) = await stage.leases()
    assert (lease.gpu, lease.device, lease.rule, lease.plan) == (
        "3",
        "gpu-3",
        rule["metadata"]["name"],
        plan.id,
    )

    await stage.rules_seen(1)
    gpus = stage.yard.cluster.inventory().gpus_on(stage.node)
    assert gpus is not None
    share = gpus.counts[DRIVER]
    assert (share.capacity, share.allocatable, share.cordoned, share.unhealthy) == (8, 7, 1, 0)
    assert "1 cordoned" in await stage.yard.say(f"gpu list --node {stage.node}")
    assert "GPU 3 cordoned by dana: throttles" in await stage.yard.say("node list")
    assert "GPU 3 cordoned by dana: throttles" in await stage.yard.say(f"node show {stage.node}")


async def test_it_comes_back_by_uncordon_and_by_undo(stage: GpuStage) -> None:
    await stage.list_devices(*map(a_device, range(2)))
    await stage.yard.do(f"gpu cordon {stage.node} 1")
    over = await stage.yard.do(f"gpu uncordon {stage.node} 1")
    assert over.state is PlanState.DONE, over.error
    assert (await stage.rules(), await stage.leases()) == ([], [])

    again = await stage.yard.do(f"gpu cordon {stage.node} gpu-0")
    undone = await stage.yard.do(f"plan undo {again.id}")
    assert undone.state is PlanState.DONE, undone.error
    assert (await stage.rules(), await stage.leases()) == ([], [])


async def test_a_second_cordon_says_whose_it_is_and_for_extends_it(stage: GpuStage) -> None:
    await stage.list_devices(a_device(0))
    await stage.yard.do(f"gpu cordon {stage.node} 0")
    assert "is already cordoned, by the DeviceTaintRule" in await stage.yard.say(f"gpu cordon {stage.node} 0")

    longer = await stage.yard.do(f"gpu cordon {stage.node} 0 --for 9h")
    assert longer.state is PlanState.DONE, longer.error
    assert [one.until for one in await stage.leases()] == [NOON + timedelta(hours=9)]


async def test_what_somebody_else_cordoned_is_left(stage: GpuStage) -> None:
    await stage.list_devices(a_device(0))
    spec = {
        "deviceSelector": {"driver": DRIVER, "pool": stage.node, "device": "gpu-0"},
        "taint": {"key": "example.com/bad", "effect": "NoSchedule"},
    }
    await stage.kube.call("POST", RULES, {"metadata": {"name": f"theirs-{stage.node}"}, "spec": spec})
    await stage.rules_seen(1)

    assert "by the DeviceTaintRule theirs-" in await stage.yard.say(f"gpu cordon {stage.node} 0")
    said = await stage.yard.say(f"gpu uncordon {stage.node} 0")
    assert (
        f"was not cordoned by Yardmaster, so that is left: kubectl delete devicetaintrule theirs-{stage.node}"
        in said
    )
    assert "GPU 0 cordoned by someone else" in await stage.yard.say(f"node show {stage.node}")


async def test_a_rule_that_somebody_removed_leaves_only_its_lease_to_end(stage: GpuStage) -> None:
    await stage.list_devices(a_device(0))
    await stage.yard.do(f"gpu cordon {stage.node} 0")
    (rule,) = await stage.rules()
    await stage.kube.call("DELETE", f"{RULES}/{rule['metadata']['name']}")

    over = await stage.yard.do(f"gpu uncordon {stage.node} 0")
    assert over.state is PlanState.DONE, over.error
    assert await stage.leases() == []


async def test_a_rule_that_somebody_made_meanwhile_stops_the_plan(stage: GpuStage) -> None:
    await stage.list_devices(a_device(0))
    plan = await stage.yard.confirmed(await stage.yard.plan(f"gpu cordon {stage.node} 0"))
    name = f"yardmaster-{stage.node}-gpu-0"
    taint = {"key": "example.com/bad", "effect": "NoSchedule"}
    spec = {"deviceSelector": {"pool": stage.node, "device": "gpu-0"}, "taint": taint}
    await stage.kube.call("POST", RULES, {"metadata": {"name": name}, "spec": spec})

    over = await stage.yard.executor.execute(plan)
    assert over.state is PlanState.FAILED
    assert "already exists and was not created by this plan" in over.error
    assert await stage.leases() == []


async def test_a_crash_after_the_rule_goes_on_where_it_was(stage: GpuStage) -> None:
    await stage.list_devices(a_device(0))
    await stage.give("slow", "gpu-0")
    plan = await stage.yard.confirmed(await stage.yard.plan(f"gpu cordon {stage.node} 0"))
    create = plan.steps[0]
    assert isinstance(create, Create)
    meta = create.manifest["metadata"]
    marked = {**meta, "annotations": {**meta["annotations"], "yardmaster.io/plan": plan.id}}
    await stage.yard.writer.create(
        {**create.manifest, "metadata": marked}
    )  # sent, and killed before its answer was in the journal

    fresh = PlanExecutor(stage.yard.store, {"prod-a": stage.yard.writer}, stage.yard.clock, quick)
    over = await fresh.execute(plan)
    assert over.state is PlanState.DONE, over.error
    assert len(await stage.rules()) == 1
    assert await stage.pods() == []


async def test_a_node_with_a_device_plugin_is_offered_instead(stage: GpuStage) -> None:
    said = await stage.yard.say(f"gpu cordon {stage.node} 0")
    assert "a device plugin cannot keep one of them back" in said
    assert f"[Cordon {stage.node}] node cordon {stage.node}" in said


async def test_a_gpu_that_is_not_there_is_answered_with_the_devices(stage: GpuStage) -> None:
    await stage.list_devices(a_device(0), a_device(1))
    said = await stage.yard.say(f"gpu cordon {stage.node} 7")
    assert (
        f"It is not known which device GPU 7 of {stage.node} is: name one of its devices, gpu-0, gpu-1"
        in said
    )


async def test_a_minor_number_is_never_taken_for_an_index(stage: GpuStage) -> None:
    """A driver that says no index names its devices by their minor numbers: the exporter's UUID does."""
    await stage.list_devices(a_device(0, index=False), a_device(1, index=False))
    assert "It is not known which device" in await stage.yard.say(f"gpu cordon {stage.node} 0")

    labels = {"Hostname": stage.node, "gpu": "0", "UUID": "GPU-0001"}
    stage.yard.prometheus.say("DCGM_FI_DEV_GPU_TEMP", samples=[(labels, 50.0)])
    plan = await stage.yard.do(f"gpu cordon {stage.node} 0")
    assert plan.state is PlanState.DONE, plan.error
    (rule,) = await stage.rules()
    assert rule["spec"]["deviceSelector"]["device"] == "gpu-1"


async def test_a_gpu_that_is_cut_into_slices_is_not_cordoned_alone(stage: GpuStage) -> None:
    attributes = {"type": {"string": "mig"}, "parentUUID": {"string": "GPU-0000"}}
    await stage.list_devices(a_device(0), {"name": "gpu-0-mig-1", "attributes": attributes})
    assert "is cut into slices" in await stage.yard.say(f"gpu cordon {stage.node} 0")


async def test_the_owner_is_reminded_once_and_the_gpu_stays_cordoned(stage: GpuStage) -> None:
    await stage.list_devices(a_device(0))
    await stage.yard.do(f"gpu cordon {stage.node} 0")
    (lease,) = await stage.leases()
    words, buttons = gpu_reminder(lease)
    assert f"your cordon of GPU 0 of {stage.node} was due to end" in plain(words).replace("`", "")
    assert [one.line for one in buttons] == [
        f"gpu uncordon {stage.node} 0 --cluster prod-a",
        f"gpu cordon {stage.node} 0 --for 4h --cluster prod-a",
    ]
    work = GpuLeaseReminder(stage.yard.store).work
    stage.yard.clock.move(timedelta(hours=5))
    again = await work.do(lease, stage.yard.clock.now())
    assert again is not None, "without a card it is tried later"
    assert len(await stage.rules()) == 1
