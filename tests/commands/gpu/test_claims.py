"""This file tests the life of a claim, from the question to the owner to the GPUs that are free, on the look-alike."""

from dataclasses import replace
from datetime import timedelta

import pytest

from collectors.facts.results import SourceError
from commands.core.request import Actor
from commands.gpu.reclaim_card import reclaim_card
from commands.models import DueCommand, ReclaimRequest, ReclaimState
from commands.plans.plan import PlanState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.gpu.conftest import measured, trained
from tests.support.yard import ANA, BO, CLAIMS, DANA, NOON, Yard, told

MINUTE = timedelta(minutes=1)


async def asked(yard: Yard, kube: KubernetesLookalike, line: str = "gpu free --grace 30m") -> ReclaimRequest:
    """A claim on the idle training `detr`."""
    await trained(yard, kube)
    measured(yard, {})
    plan = await yard.do(line, DANA)
    assert plan.state is PlanState.DONE, plan.error
    return await the_claim(yard)


async def the_claim(yard: Yard) -> ReclaimRequest:
    async with yard.store.unit() as unit:
        (claim,) = await unit.reclaim_requests.find()
    return claim


async def dues(yard: Yard) -> list[DueCommand]:
    async with yard.store.unit() as unit:
        return list(await unit.agenda.find())


async def is_suspended(kube: KubernetesLookalike) -> bool:
    job = kube.get("jobs", "vision-detr", "detr-worker")
    assert job is not None
    return bool(job["spec"].get("suspend"))


async def settled(yard: Yard) -> None:
    """The robot runs what is due, and what it planned is performed."""
    (due,) = await dues(yard)
    assert due.at <= yard.clock.now()
    await yard.answer(due.line, CLAIMS)
    plan = await yard.newest()
    assert plan is not None
    if plan.line == due.line:
        done = await yard.performer.execute(plan)
        assert done.state is PlanState.DONE, done.error


async def test_a_claim_asks_the_owner_and_is_due_after_the_grace(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    claim = await asked(yard, kube)
    assert (claim.training, claim.owner, claim.owner_id, claim.gpus) == (
        "vision-detr/detr",
        "ana",
        "U_ANA",
        8,
    )
    assert claim.evidence == "no work on any of 8 GPUs for 30 min, 477 GiB of their memory held"
    (due,) = await dues(yard)
    assert due == DueCommand(
        id=f"reclaim/{claim.id}",
        cluster="prod-a",
        at=NOON + 30 * MINUTE,
        line=f"gpu settle {claim.id} --cluster prod-a",
        actor="reclaim",
    )
    assert not await is_suspended(kube)


async def test_the_grace_counts_from_the_confirmation(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube)
    measured(yard, {})
    plan = await yard.plan("gpu free", DANA)
    yard.clock.move(20 * MINUTE)
    await yard.performer.execute(await yard.confirmed(plan))
    assert (await the_claim(yard)).grace_until == NOON + 50 * MINUTE


async def test_without_an_answer_the_training_is_suspended_and_can_be_brought_back(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await asked(yard, kube)
    yard.clock.move(30 * MINUTE)
    measured(yard, {})
    await settled(yard)
    assert await is_suspended(kube)
    assert (await the_claim(yard)).state is ReclaimState.FREED
    plan = await yard.newest()
    assert plan is not None
    await yard.do(f"plan undo {plan.id}", DANA)
    assert not await is_suspended(kube)


@pytest.mark.parametrize(
    ("values", "times", "standing"),
    [
        pytest.param({"1.3": 4.0}, 30, ReclaimState.VOID, id="one GPU works again"),
        pytest.param({}, 20, ReclaimState.ASKED, id="it was not seen all the time"),
    ],
)
async def test_what_works_or_is_not_known_is_not_suspended(
    yard: Yard, kube: KubernetesLookalike, values: dict[str, float], times: float, standing: ReclaimState
) -> None:
    await asked(yard, kube)
    yard.clock.move(30 * MINUTE)
    measured(yard, values, times=times)
    await settled(yard)
    assert not await is_suspended(kube)
    claim = await the_claim(yard)
    assert claim.state is standing
    if standing is ReclaimState.ASKED:
        assert claim.grace_until == NOON + 40 * MINUTE
        (due,) = await dues(yard)
        assert due.at == NOON + 40 * MINUTE


async def test_a_blind_prometheus_frees_nothing(yard: Yard, kube: KubernetesLookalike) -> None:
    await asked(yard, kube)
    yard.clock.move(30 * MINUTE)
    yard.prometheus.go_blind("DCGM", why="no answer")
    await settled(yard)
    assert not await is_suspended(kube)
    assert (await the_claim(yard)).state is ReclaimState.ASKED


async def test_a_training_that_has_ended_settles_its_claim(yard: Yard, kube: KubernetesLookalike) -> None:
    await asked(yard, kube)
    kube.delete("jobs", "vision-detr", "detr-worker", propagation="Background")
    await yard.seen(lambda: not any(view.workloads for view in yard.cluster.trainings()))
    yard.clock.move(30 * MINUTE)
    await settled(yard)
    claim = await the_claim(yard)
    assert (claim.state, claim.keep_reason) == (ReclaimState.VOID, "the training has ended")


async def test_trainings_that_cannot_be_seen_settle_nothing(
    yard: Yard, kube: KubernetesLookalike, monkeypatch: pytest.MonkeyPatch
) -> None:
    await asked(yard, kube)
    yard.clock.move(30 * MINUTE)
    blind = replace(yard.cluster.inventory(), jobs={}, namespaces={}, missing={"jobs": "may not list jobs"})
    monkeypatch.setattr(yard.cluster, "inventory", lambda: blind)
    monkeypatch.setattr(yard.cluster, "trainings", lambda: ())
    await settled(yard)
    assert (await the_claim(yard)).state is ReclaimState.ASKED
    assert not await is_suspended(kube)


async def test_a_cluster_that_cannot_be_seen_settles_nothing(
    yard: Yard, kube: KubernetesLookalike, monkeypatch: pytest.MonkeyPatch
) -> None:
    await asked(yard, kube)
    yard.clock.move(30 * MINUTE)

    def lost() -> None:
        raise SourceError("nodes: last seen 2 h ago")

    monkeypatch.setattr(yard.cluster, "trainings", lost)
    await settled(yard)
    assert (await the_claim(yard)).grace_until == NOON + 40 * MINUTE
    (due,) = await dues(yard)
    assert due.at == NOON + 40 * MINUTE


async def test_a_claim_that_is_not_due_is_left_alone(yard: Yard, kube: KubernetesLookalike) -> None:
    claim = await asked(yard, kube)
    answer = await yard.answer(f"gpu settle {claim.id}", CLAIMS)
    assert answer is not None
    assert "has time until 12:30" in told(answer.message)


async def test_the_owner_keeps_their_gpus(yard: Yard, kube: KubernetesLookalike) -> None:
    claim = await asked(yard, kube)
    said = await yard.say(f'gpu keep {claim.id} --reason "loads until noon"', ANA)
    assert "needs them: loads until noon" in said
    kept = await the_claim(yard)
    assert (kept.state, kept.answered_by) == (ReclaimState.KEPT, "U_ANA")
    assert not await dues(yard)
    assert "needs them, as said" in await yard.say("gpu free", DANA)
    assert "is kept already" in await yard.say(f"gpu snooze {claim.id}", ANA)


async def test_the_owner_asks_for_more_time(yard: Yard, kube: KubernetesLookalike) -> None:
    claim = await asked(yard, kube)
    await yard.say(f"gpu snooze {claim.id} --for 2h", ANA)
    (due,) = await dues(yard)
    assert due.at == NOON + timedelta(hours=2)
    yard.clock.move(timedelta(hours=2))
    measured(yard, {})
    await settled(yard)
    assert await is_suspended(kube)


async def test_the_owner_gives_them_back_at_once(yard: Yard, kube: KubernetesLookalike) -> None:
    claim = await asked(yard, kube)
    plan = await yard.do(f"gpu release {claim.id}", ANA)
    assert plan.state is PlanState.DONE, plan.error
    assert await is_suspended(kube)
    freed = await the_claim(yard)
    assert (freed.state, freed.answered_by) == (ReclaimState.FREED, "U_ANA")
    assert not await dues(yard)


@pytest.mark.parametrize("verb", ["keep", "snooze", "release"])
@pytest.mark.parametrize(
    "actor",
    [
        pytest.param(BO, id="another team"),
        pytest.param(Actor(id="U_EVE", name="ana"), id="somebody who calls themselves ana"),
    ],
)
async def test_nobody_else_answers(yard: Yard, kube: KubernetesLookalike, verb: str, actor: Actor) -> None:
    claim = await asked(yard, kube)
    assert "is for ana to answer" in await yard.say(f"gpu {verb} {claim.id}", actor)
    assert (await the_claim(yard)).state is ReclaimState.ASKED


async def test_a_name_is_believed_for_keeping_but_not_for_releasing(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    claim = await asked(yard, kube)
    async with yard.store.unit() as unit:
        await unit.reclaim_requests.put(replace(claim, owner_id=""))
    ana = Actor(id="U_OTHER", name="ana")
    assert "is for ana to answer" in await yard.say(f"gpu release {claim.id}", ana)
    assert "Kept" in await yard.say(f"gpu keep {claim.id}", ana)


async def test_whoever_may_free_gpus_may_answer_for_the_owner(yard: Yard, kube: KubernetesLookalike) -> None:
    claim = await asked(yard, kube)
    assert "Kept" in await yard.say(f"gpu keep {claim.id}", DANA)


async def test_an_owner_is_asked_once(yard: Yard, kube: KubernetesLookalike) -> None:
    claim = await asked(yard, kube)
    said = await yard.say("gpu free", DANA)
    assert f"asked already (claim {claim.id}" in said


async def test_a_training_that_works_cannot_be_claimed_by_name(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube)
    measured(yard, {"0": 90.0})
    said = await yard.say("gpu free detr", DANA)
    assert "is not idle: some of its 8 GPUs work, though 4 of them did nothing" in said
    assert "did nothing for 30 min" in await yard.say("gpu free", DANA)


async def test_the_card_asks_shows_the_evidence_and_offers_three_answers(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    claim = await asked(yard, kube)
    shown = told(reclaim_card(claim, NOON))
    assert shown.splitlines()[0] == "ana: may I have 8 idle GPUs of vision-detr/detr back?"
    assert "no work on any of 8 GPUs for 30 min" in shown
    assert "in 30 min" in shown
    for verb in ("keep", "snooze", "release"):
        assert f"gpu {verb} {claim.id} --cluster prod-a" in shown
    over = told(reclaim_card(replace(claim, state=ReclaimState.FREED), NOON))
    assert "gpu keep" not in over
    assert "Freed: 8 idle GPUs" in over
