"""`volume freeze`: what is stopped, held, cordoned and left, what the preview says, and the undo."""

import pytest

from commands.core.cordoned_nodes import CORDON_VOLUME, REASON
from commands.execution.plan import Plan, PlanState
from tests.commands.volume.conftest import SPACE, Volumes, cached
from tests.support.yard import Yard

DETR = {"training": "detr", "owner": "ana"}


def does(plan: Plan) -> list[str]:
    """What the steps do, without the records."""
    return [step.description for step in plan.steps if not step.description.startswith("record ")]


def notes(plan: Plan) -> str:
    return "\n".join(plan.notes)


async def test_the_writer_is_scaled_to_0_its_node_is_cordoned_and_undo_restores_both(
    yard: Yard, volumes: Volumes
) -> None:
    volumes.deployment("samples", "gpu-a01", replicas=1)
    volumes.pod("eval", "gpu-a02", read_only=True, owned_by="Operator/eval")
    await cached(yard, 2)

    plan = await yard.do('volume freeze vision/ckpt --reason "its unmap failed"')

    assert plan.state is PlanState.DONE, plan.error
    assert does(plan) == [
        "cordon gpu-a01: no new pods are scheduled there (its unmap failed)",
        "scale deployment vision/samples from 1 to 0",
    ]
    assert [str(one) for one in plan.disrupts] == ["Deployment vision/samples: 1 pod"]
    assert "These only read and go on: vision/eval on gpu-a02." in notes(plan)
    assert volumes.spec("deployments", "samples")["replicas"] == 0
    assert volumes.spec("nodes", "gpu-a01")["unschedulable"]
    assert not volumes.spec("nodes", "gpu-a02").get("unschedulable")

    undone = await yard.do(f"plan undo {plan.id}")

    assert undone.state is PlanState.DONE, undone.error
    assert volumes.spec("deployments", "samples")["replicas"] == 1
    assert not volumes.spec("nodes", "gpu-a01").get("unschedulable")


async def test_a_training_is_suspended_with_its_owner_named_and_its_lost_work(
    yard: Yard, volumes: Volumes
) -> None:
    volumes.job("detr", "gpu-a01", labels=DETR)
    await cached(yard, 1)

    plan = await yard.do("volume freeze vision/ckpt")

    assert plan.state is PlanState.DONE, plan.error
    assert [str(one) for one in plan.disrupts] == ["vision/detr of ana: 1 rank, 4 GPUs"]
    assert "vision/detr: The age of its last checkpoint is not known" in notes(plan)
    assert volumes.spec("jobs", "detr")["suspend"]
    node = volumes.kube.get("nodes", "", "gpu-a01")
    assert node is not None
    annotations = node["metadata"]["annotations"]
    assert annotations[REASON] == "volume vision/ckpt is frozen"
    assert annotations[CORDON_VOLUME] == "vision/ckpt"

    await yard.do(f"plan undo {plan.id}")

    node = volumes.kube.get("nodes", "", "gpu-a01")
    assert node is not None
    assert not {REASON, CORDON_VOLUME} & set(node["metadata"].get("annotations") or {})


async def test_what_would_start_a_writer_is_held_though_it_has_no_pod(yard: Yard, volumes: Volumes) -> None:
    volumes.cronjob("nightly")
    volumes.job("later", labels={"training": "later"})
    volumes.deployment("off", replicas=0)
    await cached(yard, 1)

    plan = await yard.do("volume freeze ckpt")

    assert plan.state is PlanState.DONE, plan.error
    assert volumes.spec("cronjobs", "nightly")["suspend"]
    assert volumes.spec("jobs", "later")["suspend"]
    assert not [line for line in does(plan) if "deployment" in line], "one without replicas needs nothing"


async def test_a_node_that_holds_the_image_without_a_pod_is_cordoned_and_a_readers_node_is_not(
    yard: Yard, volumes: Volumes
) -> None:
    volumes.attached("gpu-a01")
    volumes.attached("gpu-a02")
    volumes.attached("gpu-gone")
    volumes.pod("eval", "gpu-a02", read_only=True, owned_by="Operator/eval")
    await cached(yard, 1)
    await yard.seen(lambda: "gpu-a01" in str(yard.cluster.inventory().snapshots["volumeattachments"].objects))

    plan = await yard.do("volume freeze pv-vision-ckpt --node gpu-a03")

    assert plan.state is PlanState.DONE, plan.error
    cordoned = [
        name for name in ("gpu-a01", "gpu-a02", "gpu-a03") if volumes.spec("nodes", name).get("unschedulable")
    ]
    assert cordoned == ["gpu-a01", "gpu-a03"]


async def test_another_claim_of_the_same_image_is_frozen_with_it(yard: Yard, volumes: Volumes) -> None:
    volumes.volume("again")
    volumes.deployment("samples", "gpu-a01", claim="again")
    await cached(yard, 1)

    plan = await yard.plan("volume freeze kube/csi-vol-7")

    assert plan.title == "Freeze vision/again, vision/ckpt"
    assert "scale deployment vision/samples from 1 to 0" in does(plan)


async def test_what_cannot_be_held_is_named(yard: Yard, volumes: Volumes) -> None:
    volumes.pod("rank-0", "gpu-a01", owned_by="PyTorchJob/bert")
    volumes.pod("agent-x", "gpu-a02", owned_by="DaemonSet/agent")
    volumes.pod("notebook", "gpu-a03")
    await cached(yard, 3)

    plan = await yard.plan("volume freeze vision/ckpt")

    said = notes(plan)
    assert "pytorchjob vision/bert goes on writing: only its own controller can stop it." in said
    assert "daemonset vision/agent goes on writing: it cannot be scaled." in said
    assert "No controller recreates pod vision/notebook: it is gone for good." in said
    assert "A new pod with this claim on another node is not stopped" in said
    assert "evict vision/notebook" in does(plan)


async def test_a_job_that_kueue_manages_and_has_no_workload_yet_is_not_deleted(
    yard: Yard, volumes: Volumes
) -> None:
    volumes.job("queued", "gpu-a01", labels={"kueue.x-k8s.io/queue-name": "q"})
    await cached(yard, 1)

    plan = await yard.plan("volume freeze vision/ckpt")

    assert "no Workload of it is seen" in notes(plan)
    assert not [line for line in does(plan) if "delete" in line]


async def test_the_commands_for_ceph_are_shown_and_no_step_runs_them(yard: Yard, volumes: Volumes) -> None:
    volumes.deployment("samples", "gpu-a01")
    await cached(yard, 1)

    plan = await yard.plan("volume freeze vision/ckpt")

    for shown in ("rbd status", "rbd lock ls", "rbd snap create"):
        assert f"`{shown} kube/csi-vol-7" in notes(plan)
        assert not [step for step in plan.steps if shown in step.description]


async def test_a_file_system_of_many_writers_is_stopped_and_no_node_is_cordoned(
    yard: Yard, volumes: Volumes
) -> None:
    volumes.volume("shared", modes=("ReadWriteMany",), handle="cephfs-1")
    volumes.deployment("samples", "gpu-a01", claim="shared")
    await cached(yard, 1)

    plan = await yard.plan("volume freeze vision/shared")

    assert does(plan) == ["scale deployment vision/samples from 1 to 0"]
    assert "no node is cordoned for it" in notes(plan)


async def test_a_volume_that_nothing_writes_to_needs_no_freeze(yard: Yard, volumes: Volumes) -> None:
    volumes.pod("eval", "gpu-a02", read_only=True, owned_by="Operator/eval")
    await cached(yard, 1)

    assert "Nothing that Yardmaster can stop writes to vision/ckpt." in await yard.say(
        "volume freeze vision/ckpt"
    )


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        pytest.param(
            "vision/ckpd", "There is no volume `vision/ckpd`. Did you mean `vision/ckpt`, ", id="mistyped"
        ),
        pytest.param("twice", "`twice` is ambiguous: `speech/twice`, `vision/twice`.", id="two of that name"),
    ],
)
async def test_an_unknown_volume_is_refused_with_what_was_meant(
    yard: Yard, volumes: Volumes, name: str, answer: str
) -> None:
    volumes.kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "speech"}})
    volumes.volume("twice", handle="t1")
    volumes.volume("twice", space="speech", handle="t2")
    await yard.seen(
        lambda: "speech/twice" in yard.cluster.inventory().snapshots["persistentvolumeclaims"].objects
    )

    assert answer.replace("`", "") in await yard.say(f"volume freeze {name}")


async def test_a_volume_is_shown_with_its_users_and_the_nodes_that_hold_it(
    yard: Yard, volumes: Volumes
) -> None:
    volumes.attached("gpu-a03")
    volumes.pod("eval", "gpu-a02", read_only=True, owned_by="Operator/eval")
    volumes.deployment("off", replicas=0)
    volumes.pod("writer", "gpu-a01")
    await cached(yard, 2)

    said = await yard.say("volume show vision/ckpt")

    assert f"writer: {SPACE}/writer on gpu-a01" in said
    assert f"reader: {SPACE}/eval on gpu-a02" in said
    assert "may write: vision/Deployment/off" in said
    assert "attached to: gpu-a03, where no pod uses it" in said
    assert "image: kube/csi-vol-7" in said
    assert "[Freeze] volume freeze vision/ckpt" in said
