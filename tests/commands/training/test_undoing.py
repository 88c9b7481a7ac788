"""This file tests what is shown before a launch is undone: it ends a training, as `training stop` does."""

from collectors.trainings.training import TrainingState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import ANA, DANA, Yard

LINE = "training launch mnist --image registry.example/mnist:7 --workers 12 --service-per-task --wait"


async def test_the_preview_says_what_it_takes_down_and_what_goes_with_the_namespace(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    plan = await yard.do(LINE, ANA)
    place = {"name": "checkpoints", "namespace": "mnist"}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    kube.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": place, "spec": spec})
    await yard.seen(
        lambda: (
            bool(yard.cluster.inventory().persistent_volume_claims)
            and any(view.state is not TrainingState.STOPPED for view in yard.cluster.trainings())
        )
    )
    said = await yard.say(f"plan undo {plan.id}", DANA)
    assert "Takes down: mnist/mnist of ana: 12 ranks, 12 GPUs" in said
    assert "what came after it is lost" in said
    assert "Namespace mnist goes with all that is in it. Volume claims go with it: checkpoints." in said
    assert "--keep-namespace" not in said
