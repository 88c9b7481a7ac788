"""Undoing a plan that freed GPUs is done when the training runs again, and says so when it does not."""

from msgspec.structs import replace

from alerts.cards.posted import CardKind, PostedCard, card_id
from collectors.cluster.kinds import JOBS
from commands.execution.plan import Plan, PlanState
from commands.training.workload_steps import suspend_steps
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.gpu.conftest import trained
from tests.commands.gpu.test_reclaim import asked, is_suspended, the_request
from tests.support.objects import inventory
from tests.support.yard import ANA, DANA, Yard


async def freed(yard: Yard, kube: KubernetesLookalike) -> Plan:
    """Return the plan by which the owner gave the GPUs back."""
    request = await asked(yard, kube)
    plan = await yard.do(f"gpu release {request.id}", ANA)
    assert plan.state is PlanState.DONE, plan.error
    await yard.seen(lambda: yard.cluster.inventory().all(JOBS)["vision-detr/detr-worker"].spec.suspend)
    return plan


async def test_it_is_done_when_all_ranks_run_again(yard: Yard, kube: KubernetesLookalike) -> None:
    plan = await freed(yard, kube)
    undone = await yard.do(f"plan undo {plan.id}", DANA)
    assert undone.state is PlanState.DONE, undone.error
    staying = [one for one in kube.list("pods") if "deletionTimestamp" not in one["metadata"]]
    assert [one["status"]["phase"] for one in staying] == ["Running", "Running"]
    (*_, waited) = await yard.records(undone)
    assert waited.outcome == "2 of 2 pods run"


async def test_it_fails_when_the_job_does_not_come_back(yard: Yard, kube: KubernetesLookalike) -> None:
    plan = await freed(yard, kube)
    undo = await yard.confirmed(await yard.plan(f"plan undo {plan.id}", DANA))
    failed = {
        "type": "FailureTarget",
        "status": "True",
        "reason": "BackoffLimitExceeded",
        "message": "too many",
    }
    kube.patch("jobs", "vision-detr", "detr-worker", {"status": {"conditions": [failed]}}, status=True)
    over = await yard.executor.execute(undo)
    assert over.state is PlanState.FAILED
    assert "does not come back: it has failed (BackoffLimitExceeded" in over.error


async def test_the_card_of_the_request_shows_the_answer(yard: Yard, kube: KubernetesLookalike) -> None:
    plan = await freed(yard, kube)
    id = (await the_request(yard)).id
    card = PostedCard(
        id=card_id(CardKind.RECLAIM_REQUEST, id, "C_GPU"),
        cluster="prod-a",
        kind=CardKind.RECLAIM_REQUEST,
        row_id=id,
        channel="C_GPU",
        is_final=True,
    )
    async with yard.store.unit() as unit:
        await unit.rows(PostedCard).put(card)
    await yard.do(f"plan undo {plan.id}", DANA)
    async with yard.store.unit() as unit:
        shown = await unit.rows(PostedCard).get(card.id)
    assert shown is not None
    assert not shown.is_final
    assert not await is_suspended(kube)


async def test_a_suspension_that_another_controller_decides_is_said_before(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await trained(yard, kube)
    (job,) = yard.cluster.inventory().all(JOBS).values()
    managed = replace(job, spec=replace(job.spec, managed_by="kueue.x-k8s.io/multikueue"))
    (training,) = yard.cluster.trainings()
    (step,) = suspend_steps(training, inventory(managed))
    assert step.description == (
        "suspend job vision-detr/detr-worker, which kueue.x-k8s.io/multikueue manages: whether its pods end, and "
        "undo restarts them, is up to kueue.x-k8s.io/multikueue"
    )
