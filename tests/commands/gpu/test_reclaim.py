"""The life of a reclaim request on the look-alike, from the request to the freed GPUs."""

from dataclasses import replace
from datetime import timedelta

import pytest

from collectors.cluster.kinds import JOBS, NAMESPACES
from collectors.facts.results import SourceError
from commands.core.request import Actor
from commands.execution.plan import PlanState
from commands.gpu.reclaim_card import reclaim_card
from commands.models import DueCommand, ReclaimRequest, ReclaimState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.gpu.conftest import measured, trained
from tests.support.objects import hide
from tests.support.yard import ANA, BO, DANA, NOON, RECLAIM, Yard, text_of

MINUTE = timedelta(minutes=1)


async def asked(yard: Yard, kube: KubernetesLookalike, line: str = "gpu free --grace 30m") -> ReclaimRequest:
    """Return a request for the idle training `detr`."""
    await trained(yard, kube)
    measured(yard, {})
    plan = await yard.do(line, DANA)
    assert plan.state is PlanState.DONE, plan.error
    return await the_request(yard)


async def the_request(yard: Yard) -> ReclaimRequest:
    async with yard.store.unit() as unit:
        (request,) = await unit.rows(ReclaimRequest).find()
    return request


async def dues(yard: Yard) -> list[DueCommand]:
    async with yard.store.unit() as unit:
        return list(await unit.rows(DueCommand).find())


async def is_suspended(kube: KubernetesLookalike) -> bool:
    job = kube.get("jobs", "vision-detr", "detr-worker")
    assert job is not None
    return bool(job["spec"].get("suspend"))


async def settled(yard: Yard) -> None:
    """Run the due command as the automation, and execute its plan."""
    (due,) = await dues(yard)
    assert due.at <= yard.clock.now()
    await yard.answer(due.line, RECLAIM)
    plan = await yard.newest()
    assert plan is not None
    if plan.line == due.line:
        done = await yard.executor.execute(plan)
        assert done.state is PlanState.DONE, done.error


async def test_a_request_goes_to_the_owner_and_is_due_after_the_grace(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    request = await asked(yard, kube)
    assert (request.training, request.owner, request.owner_id, request.gpus) == (
        "vision-detr/Namespace/vision-detr",
        "ana",
        "U_ANA",
        8,
    )
    assert request.evidence == "no work on any of 8 GPUs for 30 min; memory in use: 477 GiB"
    (due,) = await dues(yard)
    assert due == DueCommand(
        id=f"reclaim/{request.id}",
        cluster="prod-a",
        at=NOON + 30 * MINUTE,
        line=f"gpu settle {request.id} --cluster prod-a",
        actor="automation:reclaim",
        channel=request.channel,
    )
    assert request.channel == "C_GPU"
    assert not await is_suspended(kube)


async def test_the_grace_counts_from_the_confirmation(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube)
    measured(yard, {})
    plan = await yard.plan("gpu free", DANA)
    yard.clock.move(20 * MINUTE)
    await yard.executor.execute(await yard.confirmed(plan))
    assert (await the_request(yard)).grace_until == NOON + 50 * MINUTE


async def test_without_an_answer_the_training_is_suspended_and_undo_restores_it(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await asked(yard, kube)
    yard.clock.move(30 * MINUTE)
    measured(yard, {})
    await settled(yard)
    assert await is_suspended(kube)
    assert (await the_request(yard)).state is ReclaimState.FREED
    plan = await yard.newest()
    assert plan is not None
    await yard.do(f"plan undo {plan.id}", DANA)
    assert not await is_suspended(kube)


@pytest.mark.parametrize(
    ("values", "times", "state"),
    [
        pytest.param({"1.3": 4.0}, 30, ReclaimState.VOID, id="one GPU is busy again"),
        pytest.param({}, 20, ReclaimState.ASKED, id="gaps in the samples"),
    ],
)
async def test_busy_and_unknown_trainings_are_not_suspended(
    yard: Yard, kube: KubernetesLookalike, values: dict[str, float], times: float, state: ReclaimState
) -> None:
    await asked(yard, kube)
    yard.clock.move(30 * MINUTE)
    measured(yard, values, times=times)
    await settled(yard)
    assert not await is_suspended(kube)
    request = await the_request(yard)
    assert request.state is state
    if state is ReclaimState.ASKED:
        assert request.grace_until == NOON + 40 * MINUTE
        (due,) = await dues(yard)
        assert due.at == NOON + 40 * MINUTE


async def test_a_blind_prometheus_frees_nothing(yard: Yard, kube: KubernetesLookalike) -> None:
    await asked(yard, kube)
    yard.clock.move(30 * MINUTE)
    yard.prometheus.go_blind("DCGM", reason="no answer")
    await settled(yard)
    assert not await is_suspended(kube)
    assert (await the_request(yard)).state is ReclaimState.ASKED


async def test_a_training_that_has_ended_settles_its_request(yard: Yard, kube: KubernetesLookalike) -> None:
    await asked(yard, kube)
    kube.delete("jobs", "vision-detr", "detr-worker", propagation="Background")
    await yard.seen(lambda: not any(view.workloads for view in yard.cluster.trainings()))
    yard.clock.move(30 * MINUTE)
    await settled(yard)
    request = await the_request(yard)
    assert (request.state, request.keep_reason) == (ReclaimState.VOID, "the training has ended")


async def test_trainings_that_cannot_be_seen_settle_nothing(
    yard: Yard, kube: KubernetesLookalike, monkeypatch: pytest.MonkeyPatch
) -> None:
    await asked(yard, kube)
    yard.clock.move(30 * MINUTE)
    blind = hide(yard.cluster.inventory(), JOBS, NAMESPACES, reason="may not list jobs")
    monkeypatch.setattr(yard.cluster, "inventory", lambda: blind)
    monkeypatch.setattr(yard.cluster, "trainings", lambda: ())
    await settled(yard)
    assert (await the_request(yard)).state is ReclaimState.ASKED
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
    assert (await the_request(yard)).grace_until == NOON + 40 * MINUTE
    (due,) = await dues(yard)
    assert due.at == NOON + 40 * MINUTE


async def test_a_request_that_is_not_due_is_left_alone(yard: Yard, kube: KubernetesLookalike) -> None:
    request = await asked(yard, kube)
    answer = await yard.answer(f"gpu settle {request.id}", RECLAIM)
    assert answer is not None
    assert "can be answered until 2026-11-21 12:30 UTC" in text_of(answer.message)


async def test_the_owner_keeps_their_gpus(yard: Yard, kube: KubernetesLookalike) -> None:
    request = await asked(yard, kube)
    reply = await yard.say(f'gpu keep {request.id} --reason "loads until noon"', ANA)
    assert "needs them: loads until noon" in reply
    kept = await the_request(yard)
    assert (kept.state, kept.answered_by) == (ReclaimState.KEPT, "U_ANA")
    assert not await dues(yard)
    assert "that they are needed" in await yard.say("gpu free", DANA)
    assert "is now kept" in await yard.say(f"gpu snooze {request.id}", ANA)


async def test_the_owner_asks_for_more_time(yard: Yard, kube: KubernetesLookalike) -> None:
    request = await asked(yard, kube)
    await yard.say(f"gpu snooze {request.id} --for 2h", ANA)
    (due,) = await dues(yard)
    assert due.at == NOON + timedelta(hours=2)
    yard.clock.move(timedelta(hours=2))
    measured(yard, {})
    await settled(yard)
    assert await is_suspended(kube)


async def test_the_owner_gives_them_back_at_once(yard: Yard, kube: KubernetesLookalike) -> None:
    request = await asked(yard, kube)
    plan = await yard.do(f"gpu release {request.id}", ANA)
    assert plan.state is PlanState.DONE, plan.error
    assert await is_suspended(kube)
    freed = await the_request(yard)
    assert (freed.state, freed.answered_by) == (ReclaimState.FREED, "U_ANA")
    assert not await dues(yard)


@pytest.mark.parametrize("verb", ["keep", "snooze", "release"])
@pytest.mark.parametrize(
    "actor",
    [
        pytest.param(BO, id="another team"),
        pytest.param(Actor(id="U_EVE", name="ana"), id="someone with the name ana"),
    ],
)
async def test_others_cannot_answer(yard: Yard, kube: KubernetesLookalike, verb: str, actor: Actor) -> None:
    request = await asked(yard, kube)
    assert "Only ana, or someone who may run" in await yard.say(f"gpu {verb} {request.id}", actor)
    assert (await the_request(yard)).state is ReclaimState.ASKED


async def test_a_matching_name_suffices_to_keep_but_not_to_release(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    request = await asked(yard, kube)
    async with yard.store.unit() as unit:
        await unit.rows(ReclaimRequest).put(replace(request, owner_id=""))
    ana = Actor(id="U_OTHER", name="ana")
    assert "Only ana, or someone who may run" in await yard.say(f"gpu release {request.id}", ana)
    assert "Kept" in await yard.say(f"gpu keep {request.id}", ana)


async def test_someone_who_may_free_gpus_can_answer_for_the_owner(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    request = await asked(yard, kube)
    assert "Kept" in await yard.say(f"gpu keep {request.id}", DANA)


async def test_an_owner_gets_one_request_at_a_time(yard: Yard, kube: KubernetesLookalike) -> None:
    request = await asked(yard, kube)
    reply = await yard.say("gpu free", DANA)
    assert f"its owner already has request {request.id} (" in reply


async def test_a_busy_training_is_refused_by_name(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube)
    measured(yard, {"0": 90.0})
    reply = await yard.say("gpu free detr", DANA)
    assert "is not idle: some of its 8 GPUs are busy, though 4 of them are idle" in reply
    assert "no training was idle for 30 min" in await yard.say("gpu free", DANA)


async def test_the_card_has_the_question_the_evidence_and_three_answers(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    request = await asked(yard, kube)
    shown = text_of(reclaim_card(request, NOON))
    assert shown.splitlines()[0] == "ana: are 8 idle GPUs of vision-detr/detr still needed?"
    assert "no work on any of 8 GPUs for 30 min" in shown
    assert "Without an answer by 2026-11-21 12:30 UTC, it is suspended." in shown
    for verb in ("keep", "snooze", "release"):
        assert f"gpu {verb} {request.id} --cluster prod-a" in shown
    over = text_of(reclaim_card(replace(request, state=ReclaimState.FREED), NOON))
    assert "gpu keep" not in over
    assert "Freed: 8 idle GPUs" in over
