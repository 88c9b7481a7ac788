"""The preview of undoing a launch: it ends a training, like `training stop`."""

from dataclasses import replace

from alerts.cards.posted import PostedCard
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext
from bot.cards.launch_cards import wanted_launch_card
from collectors.cluster.kinds import JOBS, PERSISTENT_VOLUME_CLAIMS
from collectors.trainings.training import TrainingState
from commands.execution.plan import Plan, PlanState
from commands.models import Launch
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import ANA, DANA, Yard, text_of

LINE = "training launch mnist --image registry.example/mnist:7 --workers 12 --service-per-task --wait"


async def undone(yard: Yard, plan: Plan) -> None:
    over = await yard.do(f"plan undo {plan.id}", DANA)
    assert over.state is PlanState.DONE, over.error


async def test_the_preview_shows_the_disruption_and_what_is_deleted_with_the_namespace(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    plan = await yard.do(LINE, ANA)
    place = {"name": "checkpoints", "namespace": "mnist"}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    kube.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": place, "spec": spec})
    await yard.seen(
        lambda: (
            bool(yard.cluster.inventory().all(PERSISTENT_VOLUME_CLAIMS))
            and any(view.state is not TrainingState.STOPPED for view in yard.cluster.trainings())
        )
    )
    reply = await yard.say(f"plan undo {plan.id}", DANA)
    assert "Disrupts: mnist/mnist of ana: 12 ranks, 12 GPUs" in reply
    assert "work since then is lost" in reply
    assert "Namespace mnist is deleted with its objects. Volume claims deleted with it: checkpoints." in reply
    assert "--keep-namespace" not in reply


async def test_the_undo_of_a_launch_that_was_suspended_meanwhile_deletes_it(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    plan = await yard.do("training launch mnist --image registry.example/mnist:7 --gpus 1", ANA)
    kube.patch("jobs", "mnist", "mnist-worker", {"spec": {"suspend": True}})
    await yard.seen(lambda: bool(yard.cluster.inventory().all(JOBS)["mnist/mnist-worker"].spec.suspend))
    await undone(yard, plan)
    assert not kube.list("jobs", "mnist")


async def test_an_undo_goes_on_although_some_objects_are_gone_already(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    plan = await yard.do("training launch mnist --image registry.example/mnist:7 --gpus 1", ANA)
    kube.delete("jobs", "mnist", "mnist-worker")
    await undone(yard, plan)
    assert not kube.list("services", "mnist")


async def test_the_card_of_an_undone_launch_says_that_it_is_over(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    """Its namespace may still be there with its pods: the card of a training that runs has buttons."""
    plan = await yard.do("training launch mnist --image registry.example/mnist:7 --gpus 1", ANA)
    await yard.seen(lambda: bool(yard.cluster.inventory().all(JOBS)))
    async with yard.store.unit() as unit:
        (launch,) = await unit.rows(Launch).find()
        card = replace(wanted_launch_card(launch, "C_GPU"), is_final=True)
        await unit.rows(PostedCard).put(card)
    (training,) = yard.cluster.trainings()
    await yard.do(f"plan undo {plan.id}", DANA)
    context = CardContext(rules=dict, training=lambda *_: training, blind=lambda *_: {})
    async with yard.store.unit() as unit:
        (card,) = await unit.rows(PostedCard).find()
        composed = await CardCatalogue(context).compose(card, unit, yard.clock.now())
    assert not card.is_final  # so it is edited once more
    assert composed.is_final
    assert composed.message is not None
    shown = text_of(composed.message)
    assert shown.startswith("– mnist/mnist: stopped, its launch was undone")
    assert "[Stop]" not in shown
