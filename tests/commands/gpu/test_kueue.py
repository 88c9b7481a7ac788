"""Texts about a Job managed by Kueue: it is deleted, not suspended."""

from collectors.cluster.kinds import JOBS
from collectors.cluster.objects import Job
from commands.gpu.reclaim_card import reclaim_card
from commands.models import ReclaimState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.gpu.conftest import measured, trained
from tests.commands.gpu.test_reclaim import MINUTE, asked, is_suspended, settled, the_request
from tests.support.yard import ANA, DANA, Yard, text_of

QUEUE = "kueue.x-k8s.io/queue-name"


async def queued(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube)
    await taken_over(yard, kube)
    measured(yard, {})


async def taken_over(yard: Yard, kube: KubernetesLookalike) -> None:
    kube.patch("jobs", "vision-detr", "detr-worker", {"metadata": {"labels": {QUEUE: "gpus"}}})
    await yard.seen(lambda: any(QUEUE in (job.metadata.labels or {}) for job in jobs(yard)))


def jobs(yard: Yard) -> list[Job]:
    return list(yard.cluster.inventory().all(JOBS).values())


async def test_the_preview_the_card_and_the_answer_announce_the_deletion(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await queued(yard, kube)
    plan = await yard.plan("gpu free --grace 30m", DANA)
    assert "Without an answer it is deleted (Kueue would resume it) after 30 min" in plan.notes[0]
    await yard.executor.execute(await yard.confirmed(plan))
    request = await the_request(yard)
    assert "it is deleted (Kueue would resume it)" in text_of(reclaim_card(request, yard.clock.now()))
    reply = await yard.say(f"gpu release {request.id}", ANA)
    assert "only another launch restores it" in reply
    assert "restarts it" not in reply


async def test_the_card_does_not_offer_an_undo(yard: Yard, kube: KubernetesLookalike) -> None:
    await queued(yard, kube)
    await yard.do("gpu free --grace 30m", DANA)
    yard.clock.move(30 * MINUTE)
    measured(yard, {}, times=61)
    await settled(yard)
    assert kube.get("jobs", "vision-detr", "detr-worker") is None
    shown = text_of(reclaim_card(await the_request(yard), yard.clock.now()))
    assert "No answer in time, so it was deleted." in shown
    assert "undo" not in shown


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


async def test_a_suspension_that_was_announced_never_becomes_a_deletion(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await asked(yard, kube)
    await taken_over(yard, kube)
    yard.clock.move(30 * MINUTE)
    measured(yard, {}, times=61)
    await settled(yard)
    assert kube.get("jobs", "vision-detr", "detr-worker") is not None
    request = await the_request(yard)
    assert request.state is ReclaimState.VOID
    assert "Nothing was done: Kueue manages it now" in text_of(reclaim_card(request, yard.clock.now()))
