"""`volume thaw`: the freeze is reverted in its own verb, with what a storage admin looks at first."""

from commands.execution.plan import PlanState, Risk
from tests.commands.volume.conftest import Volumes, cached
from tests.support.yard import Yard


async def test_the_writers_run_again_the_cordon_is_lifted_and_the_commands_of_the_admin_are_filled_in(
    yard: Yard, volumes: Volumes
) -> None:
    volumes.deployment("samples", "gpu-a01", replicas=1)
    await cached(yard, 1)
    frozen = await yard.do("volume freeze vision/ckpt")
    assert frozen.state is PlanState.DONE, frozen.error
    await yard.seen(lambda: bool(yard.cluster.inventory().nodes["gpu-a01"].spec.unschedulable))

    assert "[Thaw] volume thaw vision/ckpt" in await yard.say("volume show vision/ckpt")
    plan = await yard.plan("volume thaw vision/ckpt")
    notes = "\n".join(plan.notes)
    assert f"It reverts plan {frozen.id} of dana." in notes.replace("`", "")
    for command in (
        "rbd status kube/csi-vol-7",
        "rbd lock ls kube/csi-vol-7",
        "rbd snap create kube/csi-vol-7@before-thaw",
    ):
        assert command in notes
    over = await yard.executor.execute(await yard.confirmed(plan))

    assert over.state is PlanState.DONE, over.error
    assert volumes.spec("deployments", "samples")["replicas"] == 1
    assert not volumes.spec("nodes", "gpu-a01").get("unschedulable")
    assert "Yardmaster does not hold vision/ckpt frozen." in await yard.say("volume thaw vision/ckpt")
    assert "[Freeze] volume freeze vision/ckpt" in await yard.say("volume show vision/ckpt")


async def test_an_image_that_a_node_still_holds_needs_a_second_person(yard: Yard, volumes: Volumes) -> None:
    volumes.deployment("samples", "gpu-a01", replicas=1)
    volumes.attached("gpu-a02")
    await cached(yard, 1)
    await yard.do("volume freeze vision/ckpt")
    plan = await yard.plan("volume thaw vision/ckpt")
    assert plan.risk is Risk.BREAK
    assert any("still attached to gpu-a02" in reason for reason in plan.breaks)
    assert any("The VolumeAttachment is not to be deleted" in note for note in plan.notes)


async def test_a_volume_that_was_never_frozen_is_said_to_be_so(yard: Yard, volumes: Volumes) -> None:
    assert "Yardmaster does not hold vision/ckpt frozen." in await yard.say("volume thaw vision/ckpt")
