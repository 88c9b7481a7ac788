"""Plans that ask owners: who is asked, what waits, what each answer does, and who cannot answer for them."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.jobs.agenda import Agenda
from bot.jobs.consent_watch import ConsentWatch
from bot.jobs.plan_runner import PlanRunner
from collectors.trainings.training import Training
from commands.core.context import Defaults
from commands.core.grant import Grant
from commands.core.permissions import Permissions
from commands.core.request import Actor
from commands.execution.executor import PlanExecutor
from commands.execution.plan import Plan, PlanState, Risk
from commands.execution.plan_card import card_of
from commands.gpu.consents import ConsentGate, OwnerConsents
from commands.models import ReclaimRequest, ReclaimState
from demo.lookalikes.kubernetes import KubernetesLookalike, Settings
from tests.support.drained import until
from tests.support.yard import ANA, CLUSTER, DANA, Yard, a_node_tree, text_of, yard_before

STOP = "training stop detr --ask-owners"
GRACE = timedelta(minutes=30)
ELI = Actor(id="U_ELI", name="eli", teams=frozenset({"sre"}))
JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "detr", "namespace": "vision", "labels": {"training": "detr", "owner": "ana"}},
    "spec": {
        "template": {
            "metadata": {"labels": {"training": "detr", "owner": "ana"}},
            "spec": {
                "restartPolicy": "Never",
                "containers": [
                    {"name": "main", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "4"}}}
                ],
            },
        },
    },
}


@pytest.fixture
async def kube() -> AsyncIterator[KubernetesLookalike]:
    async with KubernetesLookalike.running(settings=Settings(node_grace=None)) as running:
        running.create(a_node_tree("gpu-a01"), keep_status=True)
        running.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "vision"}})
        running.create(JOB)
        yield running


@pytest.fixture
async def yard(kube: KubernetesLookalike, tmp_path: Path) -> AsyncIterator[Yard]:
    permissions = Permissions(teams={"sre": Grant(commands=("*",))}, automation={})
    policy = Defaults(owners={"ana": "U_ANA"})
    config = kube.kubeconfig(tmp_path / "config")
    async with yard_before(config, policy=policy, permissions=permissions) as yard:
        gated(yard, silence_agrees=False)
        await yard.seen(lambda: bool(yard.cluster.inventory().pods_on("gpu-a01")))
        (pod,) = kube.list("pods", "vision")
        kube.patch("pods", "vision", pod["metadata"]["name"], {"status": {"phase": "Running"}}, status=True)
        await yard.seen(lambda: any(has_running(one) for one in yard.cluster.trainings()))
        yield yard


def has_running(training: Training) -> bool:
    return any(rank.phase == "Running" for rank in training.ranks)


def gated(yard: Yard, *, silence_agrees: bool) -> None:
    gate = ConsentGate(clock=yard.clock, silence_agrees=silence_agrees)
    yard.pipeline = replace(yard.pipeline, gates=(gate,), consents=OwnerConsents(grace=GRACE))
    yard.executor = PlanExecutor(yard.store, {CLUSTER: yard.writer}, yard.clock, gate=yard.pipeline.gate)


async def waiting(yard: Yard, line: str = STOP) -> tuple[Plan, ReclaimRequest]:
    """Return a confirmed plan that waits, and its request."""
    plan = await yard.executor.execute(await yard.confirmed(await yard.plan(line)))
    assert plan.state is PlanState.WAITING, plan.error
    return plan, await request_of(yard, plan)


async def request_of(yard: Yard, plan: Plan) -> ReclaimRequest:
    async with yard.store.unit() as unit:
        (found,) = await unit.rows(ReclaimRequest).find(for_plan=plan.id)
    return found


async def watched(yard: Yard, request: ReclaimRequest) -> None:
    """Look at a request as the agenda does."""
    await ConsentWatch(yard.store, {CLUSTER: yard.cluster}).work.do(request, yard.clock.now())


async def again(yard: Yard, plan: Plan) -> Plan:
    return await yard.executor.execute(plan)


async def test_the_preview_says_who_is_asked_and_needs_no_second_person(yard: Yard) -> None:
    shown = await yard.say(STOP)
    assert "Confirmed, it would wait. it asks the owners first: ana (vision/detr)" in shown
    assert "second person" not in shown
    plan = await yard.newest()
    assert plan is not None
    assert plan.risk is Risk.TOUCH
    assert "second person" in await yard.say("training stop detr"), "nobody is asked without the option"


async def test_the_owner_is_asked_with_what_is_at_stake_and_the_plan_waits_visibly(yard: Yard) -> None:
    plan, request = await waiting(yard)
    assert (request.owner_id, request.state, request.for_plan) == ("U_ANA", ReclaimState.ASKED, plan.id)
    assert request.grace_until == yard.clock.now() + GRACE
    card = await yard.say(f"gpu request {request.id}", ANA)
    assert "ana: may vision/detr be ended?" in card
    assert "At stake: vision/detr of ana: GPU-hours since its last checkpoint unknown" in card
    assert "It waits to: Stop vision/detr" in card
    assert f"[Go on] gpu agree {request.id}" in card
    shown = text_of(card_of(plan, await yard.records(plan)))
    assert "Held back. ana may answer about vision/detr until" in shown
    assert await again(yard, plan) == plan, "it still waits"


async def test_the_owner_lets_it_go_on(yard: Yard, kube: KubernetesLookalike) -> None:
    plan, request = await waiting(yard)
    assert "lets it end" in await yard.say(f"gpu agree {request.id}", ANA)
    done = await again(yard, plan)
    assert done.state is PlanState.DONE, done.error
    assert kube.get("jobs", "vision", "detr") is None


async def test_the_owner_needs_it_and_the_plan_ends(yard: Yard, kube: KubernetesLookalike) -> None:
    plan, request = await waiting(yard)
    await yard.say(f"gpu keep {request.id} --reason 'a paper is due'", ANA)
    ended = await again(yard, plan)
    assert ended.state is PlanState.CANCELLED
    assert "nothing was done: ana needs vision/detr: a paper is due" in ended.error
    assert kube.get("jobs", "vision", "detr") is not None


async def test_the_owner_keeps_it_for_a_while_and_then_it_goes_on(yard: Yard) -> None:
    plan, request = await waiting(yard)
    await yard.say(f"gpu snooze {request.id} --for 2h", ANA)
    yard.clock.move(timedelta(hours=1))
    held = await again(yard, plan)
    assert held.state is PlanState.WAITING
    assert "ana needs vision/detr until" in held.held
    yard.clock.move(timedelta(hours=1))
    assert (await again(yard, held)).state is PlanState.DONE


async def test_after_the_next_checkpoint_is_one_that_is_younger_than_the_answer(yard: Yard) -> None:
    plan, request = await waiting(yard)
    await yard.say(f"gpu agree {request.id} --after-checkpoint", ANA)
    answered = yard.clock.now()
    yard.prometheus.say("checkpoint", samples=[({}, (answered - timedelta(minutes=1)).timestamp())])
    watch = ConsentWatch(yard.store, {CLUSTER: yard.cluster}).work
    yard.clock.move(timedelta(minutes=10))
    await watch.do(await request_of(yard, plan), yard.clock.now())
    held = await again(yard, plan)
    assert held.state is PlanState.WAITING
    assert "the next checkpoint of vision/detr" in held.held
    yard.prometheus.say("checkpoint", samples=[({}, (answered + timedelta(minutes=5)).timestamp())])
    await watch.do(await request_of(yard, plan), yard.clock.now())
    assert (await again(yard, held)).state is PlanState.DONE


@pytest.mark.parametrize("agrees", [False, True], ids=["ends the plan", "agrees"])
async def test_silence_means_what_the_settings_say(yard: Yard, agrees: bool) -> None:
    gated(yard, silence_agrees=agrees)
    plan, _ = await waiting(yard)
    yard.clock.move(GRACE - timedelta(seconds=1))
    assert (await again(yard, plan)).state is PlanState.WAITING
    yard.clock.move(timedelta(seconds=1))
    ended = await again(yard, plan)
    assert ended.state is (PlanState.DONE if agrees else PlanState.CANCELLED)
    assert agrees or "ana did not answer about vision/detr" in ended.error
    request = await request_of(yard, plan)
    assert "no longer waits" in await yard.say(f"gpu agree {request.id}", ANA)
    await watched(yard, request)
    assert (await request_of(yard, plan)).state is ReclaimState.VOID


async def test_nobody_but_the_owner_agrees(yard: Yard) -> None:
    plan, request = await waiting(yard)
    twin = Actor(id="U_TWIN", name="ana", teams=frozenset({"vision"}))
    for somebody in (DANA, ELI, twin):
        assert "Only ana can agree" in await yard.say(f"gpu agree {request.id}", somebody)
    assert "gpu agree" in await yard.say(f"gpu release {request.id}", ANA)
    assert (await again(yard, plan)).state is PlanState.WAITING


async def test_a_plan_that_is_cancelled_closes_its_requests_and_takes_no_answer(yard: Yard) -> None:
    plan, request = await waiting(yard)
    await yard.say(f"plan cancel {plan.id}")
    assert "no longer waits" in await yard.say(f"gpu keep {request.id}", ANA)
    await watched(yard, request)
    assert (await request_of(yard, plan)).state is ReclaimState.VOID
    assert "is now void" in await yard.say(f"gpu agree {request.id}", ANA)
    assert (await again(yard, plan)).state is PlanState.CANCELLED


async def test_a_second_person_takes_it_over_the_owners(yard: Yard) -> None:
    plan, request = await waiting(yard)
    await yard.say(f"plan exceed {plan.id} --reason 'the node burns'")
    over = await yard.newest()
    assert over is not None
    assert over.risk is Risk.BREAK
    done = await yard.executor.execute(await yard.confirmed(over, ELI))
    assert done.state is PlanState.DONE, done.error
    await watched(yard, request)
    assert (await request_of(yard, plan)).state is ReclaimState.VOID


async def test_a_training_that_has_ended_meanwhile_needs_no_answer(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    plan, request = await waiting(yard)
    kube.delete("jobs", "vision", "detr")
    await yard.seen(lambda: not yard.cluster.trainings())
    watch = ConsentWatch(yard.store, {CLUSTER: yard.cluster}).work
    await watch.do(request, yard.clock.now())
    assert (await request_of(yard, plan)).state is ReclaimState.VOID


async def test_ones_own_training_is_not_asked_about(yard: Yard) -> None:
    yard.pipeline = replace(yard.pipeline, defaults=replace(yard.pipeline.defaults, owners={"ana": "U_DANA"}))
    shown = await yard.say(STOP)
    assert "Nobody is asked" in shown
    assert "would wait" not in shown


@asynccontextmanager
async def process(yard: Yard) -> AsyncGenerator[None]:
    """Run plans and watch requests as one process of the bot does, until it is killed."""
    runner = PlanRunner(
        yard.store, yard.executor, channel="", renew=yard.pipeline.decisions.renew, gate_again=0.05
    )
    agenda = Agenda(yard.store, yard.clock, (ConsentWatch(yard.store, {CLUSTER: yard.cluster}).work,))
    stops = [yard.store.listen(runner.wake), yard.store.listen(agenda.wake)]
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(runner.run()), group.create_task(agenda.run())]
        yield
        for task in running:
            task.cancel()
    for stop in stops:
        stop()


async def test_it_waits_on_through_three_processes_and_goes_on_once(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    plan = await yard.confirmed(await yard.plan(STOP))

    async def has(state: PlanState) -> bool:
        async with yard.store.unit() as unit:
            found = await unit.rows(Plan).get(plan.id)
        return found is not None and found.state is state

    for _ in range(3):
        async with process(yard):
            await until(lambda: has(PlanState.WAITING))
    request = await request_of(yard, plan)
    await yard.say(f"gpu agree {request.id}", ANA)
    async with process(yard):
        await until(lambda: has(PlanState.DONE))
    assert kube.get("jobs", "vision", "detr") is None
    async with yard.store.unit() as unit:
        assert len(await unit.rows(ReclaimRequest).find()) == 1


async def test_an_owner_of_several_trainings_gets_one_message_about_all_of_them(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await another_training(yard, kube, "vit")
    plan, request = await waiting(yard, "node drain gpu-a01 --ask-owners")
    assert sorted(one.rpartition("/")[2] for one in request.trainings) == ["detr", "vit"]
    card = await yard.say(f"gpu request {request.id}", ANA)
    assert "ana: may vision/detr, vision/vit be ended?" in card
    assert card.count("GPU-hours since its last checkpoint unknown") == 2, "what is at stake of each"
    assert plan.held.count("ana may answer") == 1

    await yard.say(f"gpu agree {request.id} --after-checkpoint", ANA)
    answered = yard.clock.now()
    yard.clock.move(timedelta(minutes=9))
    fresh = (answered + timedelta(minutes=5)).timestamp()
    yard.prometheus.say("checkpoint", "detr", samples=[({}, fresh)])
    await watched(yard, await request_of(yard, plan))
    assert (await again(yard, plan)).state is PlanState.WAITING, "vit has written none"
    yard.prometheus.say("checkpoint", "vit", samples=[({}, fresh)])
    await watched(yard, await request_of(yard, plan))
    assert (await request_of(yard, plan)).state is ReclaimState.AGREED


async def test_one_of_an_owners_trainings_that_has_ended_leaves_the_question_about_the_others(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await another_training(yard, kube, "vit")
    plan, request = await waiting(yard, "node drain gpu-a01 --ask-owners")
    kube.delete("jobs", "vision", "vit")
    await yard.seen(lambda: len(yard.cluster.trainings()) == 1)
    await watched(yard, request)
    assert (await request_of(yard, plan)).state is ReclaimState.ASKED
    kube.delete("jobs", "vision", "detr")
    await yard.seen(lambda: not yard.cluster.trainings())
    await watched(yard, request)
    assert (await request_of(yard, plan)).state is ReclaimState.VOID


async def another_training(yard: Yard, kube: KubernetesLookalike, name: str) -> None:
    """Start another training of ana beside the first one."""
    text = json.dumps(JOB).replace("detr", name)
    kube.create(json.loads(text))
    await yard.seen(lambda: len(yard.cluster.inventory().pods_on("gpu-a01")) == 2)
    for pod in kube.list("pods", "vision"):
        kube.patch("pods", "vision", pod["metadata"]["name"], {"status": {"phase": "Running"}}, status=True)
    await yard.seen(lambda: sum(has_running(one) for one in yard.cluster.trainings()) == 2)


async def test_who_agreed_reads_what_became_of_the_plan(yard: Yard) -> None:
    plan, request = await waiting(yard)
    await yard.say(f"gpu agree {request.id}", ANA)
    await watched(yard, await request_of(yard, plan))
    assert (await request_of(yard, plan)).state is ReclaimState.AGREED, "it still waits"
    async with yard.store.unit() as unit:
        error = "nothing was done: bo needs speech/bert"
        over = replace(plan, state=PlanState.CANCELLED, error=error, ended_at=yard.clock.now())
        await unit.rows(Plan).put(over)
    await watched(yard, await request_of(yard, plan))
    said = f"plan {plan.id} ended, nothing was done: bo needs speech/bert"
    assert said in await yard.say(f"gpu request {request.id}", ANA)


async def test_a_request_whose_plan_went_on_is_looked_at_no_more(yard: Yard) -> None:
    plan, request = await waiting(yard)
    await yard.say(f"gpu agree {request.id}", ANA)
    assert (await again(yard, plan)).state is PlanState.DONE
    await watched(yard, await request_of(yard, plan))
    found = await request_of(yard, plan)
    assert (found.state, found.look_at) == (ReclaimState.FREED, None)
    assert "lets it end" in await yard.say(f"gpu request {request.id}", ANA)
