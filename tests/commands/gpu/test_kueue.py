"""A Job that Kueue manages: its GPUs are freed through its Workload, and it goes back into its queue."""

from typing import Any

from collectors.cluster.kinds import JOBS, KUEUE_WORKLOADS
from collectors.cluster.objects import Job
from commands.gpu.reclaim_card import reclaim_card
from commands.models import ReclaimState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.gpu.conftest import measured, trained
from tests.commands.gpu.test_reclaim import MINUTE, asked, is_suspended, settled, the_request
from tests.support.custom_kinds import a_definition
from tests.support.yard import ANA, DANA, Yard, text_of

QUEUE = "kueue.x-k8s.io/queue-name"


async def queued(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube)
    await taken_over(yard, kube)
    measured(yard, {})


async def taken_over(yard: Yard, kube: KubernetesLookalike, *, workload: bool = True) -> None:
    """Put the Job under Kueue, with its Workload unless Kueue is late."""
    if workload:
        kube.create(a_definition(KUEUE_WORKLOADS))
        job = kube.get("jobs", "vision-detr", "detr-worker")
        assert job is not None
        owner = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "name": "detr-worker",
            "uid": job["metadata"]["uid"],
        }
        meta = {"name": "job-detr", "ownerReferences": [{**owner, "controller": True}]}
        made = {"apiVersion": KUEUE_WORKLOADS.api, "kind": "Workload", "metadata": meta}
        kube.create({**made, "spec": {"active": True, "queueName": "gpus"}}, namespace="vision-detr")
        await yard.seen(lambda: bool(yard.cluster.inventory().all(KUEUE_WORKLOADS)))
    kube.patch("jobs", "vision-detr", "detr-worker", {"metadata": {"labels": {QUEUE: "gpus"}}})
    await yard.seen(lambda: any(QUEUE in (job.metadata.labels or {}) for job in jobs(yard)))


def jobs(yard: Yard) -> list[Job]:
    return list(yard.cluster.inventory().all(JOBS).values())


def workload(kube: KubernetesLookalike) -> Any:
    found = kube.get("workloads", "vision-detr", "job-detr")
    assert found is not None
    return found


async def test_it_is_suspended_through_its_workload_and_an_undo_puts_it_back(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await queued(yard, kube)
    plan = await yard.plan("gpu free --grace 30m", DANA)
    assert "Without an answer it is suspended after 30 min" in plan.notes[0]
    await yard.executor.execute(await yard.confirmed(plan))
    yard.clock.move(30 * MINUTE)
    measured(yard, {}, times=61)
    await settled(yard)
    assert workload(kube)["spec"]["active"] is False
    assert kube.get("jobs", "vision-detr", "detr-worker") is not None
    assert not await is_suspended(kube), "Kueue does that"
    shown = text_of(reclaim_card(await the_request(yard), yard.clock.now()))
    assert "No answer in time, so it was suspended" in shown
    newest = await yard.newest()
    assert newest is not None
    await yard.do(f"plan undo {newest.id}", DANA)
    assert workload(kube)["spec"]["active"] is True


async def test_an_owner_who_gives_them_back_loses_nothing(yard: Yard, kube: KubernetesLookalike) -> None:
    await queued(yard, kube)
    await yard.do("gpu free --grace 30m", DANA)
    request = await the_request(yard)
    reply = await yard.say(f"gpu release {request.id}", ANA)
    assert "through its Workload in Kueue" in reply
    assert "delete" not in reply


async def test_undo_does_not_resume_what_kueue_manages_by_now(yard: Yard, kube: KubernetesLookalike) -> None:
    await asked(yard, kube)
    yard.clock.move(30 * MINUTE)
    measured(yard, {}, times=61)
    await settled(yard)
    plan = await yard.newest()
    assert plan is not None
    await taken_over(yard, kube)
    reply = await yard.say(f"plan undo {plan.id}", DANA)
    assert f"{QUEUE} is 'gpus' now" in reply
    assert await is_suspended(kube)


async def test_what_kueue_takes_over_and_has_no_workload_of_is_left_alone(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await asked(yard, kube)
    await taken_over(yard, kube, workload=False)
    yard.clock.move(30 * MINUTE)
    measured(yard, {}, times=61)
    await settled(yard)
    assert kube.get("jobs", "vision-detr", "detr-worker") is not None
    assert not await is_suspended(kube)
    request = await the_request(yard)
    assert request.state is ReclaimState.VOID
    assert "no Workload of it is seen" in text_of(reclaim_card(request, yard.clock.now()))
