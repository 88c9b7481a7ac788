"""This file tests that whoever is asked for the GPUs of a Job of Kueue's is told that it is deleted, not suspended."""

from collectors.cluster.objects import Job
from commands.gpu.reclaim_card import reclaim_card
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.gpu.conftest import measured, trained
from tests.commands.gpu.test_claims import MINUTE, settled, the_claim
from tests.support.yard import ANA, DANA, Yard, told

QUEUE = "kueue.x-k8s.io/queue-name"


async def queued(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube)
    kube.patch("jobs", "vision-detr", "detr-worker", {"metadata": {"labels": {QUEUE: "gpus"}}})
    await yard.seen(lambda: any(QUEUE in (job.metadata.labels or {}) for job in jobs(yard)))
    measured(yard, {})


def jobs(yard: Yard) -> list[Job]:
    return list(yard.cluster.inventory().jobs.values())


async def test_the_preview_the_card_and_the_answer_say_so(yard: Yard, kube: KubernetesLookalike) -> None:
    await queued(yard, kube)
    plan = await yard.plan("gpu free --grace 30m", DANA)
    assert "Without an answer it is deleted (Kueue would wake it up again) after 30 min" in plan.notes[0]
    await yard.performer.execute(await yard.confirmed(plan))
    claim = await the_claim(yard)
    assert "Without an answer it is deleted" in told(reclaim_card(claim, yard.clock.now()))
    said = await yard.say(f"gpu release {claim.id}", ANA)
    assert "nothing brings it back but another launch" in said
    assert "starts it anew" not in said


async def test_its_card_promises_no_undo(yard: Yard, kube: KubernetesLookalike) -> None:
    await queued(yard, kube)
    await yard.do("gpu free --grace 30m", DANA)
    yard.clock.move(30 * MINUTE)
    measured(yard, {}, times=61)
    await settled(yard)
    assert kube.get("jobs", "vision-detr", "detr-worker") is None
    shown = told(reclaim_card(await the_claim(yard), yard.clock.now()))
    assert "Nobody answered in time, so it was deleted." in shown
    assert "undo" not in shown
