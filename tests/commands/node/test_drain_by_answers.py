"""A drain that asks owners, who answer for each training: what is agreed is drained first, and the rest waits."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.jobs.consent_watch import ConsentWatch
from commands.core.context import Defaults
from commands.core.request import Request
from commands.execution.executor import PlanExecutor
from commands.execution.plan import Origin, Plan, PlanState
from commands.gates.training_answers import training_labels
from commands.gpu.consents import ConsentGate, OwnerConsents
from commands.models import ReclaimRequest, ReclaimState
from demo.lookalikes.kubernetes import KubernetesLookalike, Settings
from tests.support.drained import Kubelets, kubelets, until
from tests.support.running_plans import runs_plans
from tests.support.yard import ANA, CLUSTER, Yard, text_of, yard_before

FIRST, SECOND = "gpu-a01", "gpu-a02"
LINE = f"node drain {FIRST} {SECOND} --ask-owners"


async def quick(seconds: float) -> None:
    await asyncio.sleep(seconds / 100)


@pytest.fixture
async def lookalike() -> AsyncIterator[KubernetesLookalike]:
    async with KubernetesLookalike.running(settings=Settings(node_grace=None)) as running:
        yield running


@pytest.fixture
async def kube(lookalike: KubernetesLookalike, tmp_path: Path) -> AsyncIterator[Kubelets]:
    async with kubelets(lookalike.kubeconfig(tmp_path / "admin"), "vision") as made:
        for name in (FIRST, SECOND):
            await made.add_node(name, **{"nvidia.com/gpu": "8"})
        yield made


@pytest.fixture
async def yard(lookalike: KubernetesLookalike, kube: Kubelets, tmp_path: Path) -> AsyncIterator[Yard]:
    policy = Defaults(owners={"ana": "U_ANA"})
    async with yard_before(lookalike.kubeconfig(tmp_path / "bot"), policy=policy, pause=quick) as made:
        gate = ConsentGate(clock=made.clock)
        consents = OwnerConsents(grace=timedelta(minutes=30))
        made.pipeline = replace(made.pipeline, gates=(gate,), consents=consents)
        made.executor = PlanExecutor(
            made.store, {CLUSTER: made.writer}, made.clock, quick, gate=made.pipeline.gate
        )
        for name, node in (("detr", FIRST), ("vit", SECOND)):
            await kube.add_training(name, node, gpus=8)
        await made.seen(lambda: sum(bool(one.gpus) for one in made.cluster.trainings()) == 2)
        yield made


async def asked(yard: Yard) -> tuple[Plan, ReclaimRequest]:
    """Return the confirmed plan, once it waits, and its one request."""
    plan = await yard.confirmed(await yard.plan(LINE))

    async def waits() -> bool:
        return (await yard.stored(plan.id)).state is PlanState.WAITING

    await until(waits)
    async with yard.store.read() as snapshot:
        (request,) = await snapshot.rows(ReclaimRequest).find(for_plan=plan.id)
    return plan, request


async def parts_in(yard: Yard, whole: Plan, *states: PlanState) -> list[Plan]:
    """Return the parts of the plan once they are in these states, in the order of the nodes."""

    async def parts() -> list[Plan]:
        return [await yard.stored(id) for id in (await yard.stored(whole.id)).parts]

    async def are() -> bool:
        return tuple(one.state for one in await parts()) == states

    await until(are)
    return await parts()


async def cordoned(kube: Kubelets) -> list[str]:
    return [name for name in (FIRST, SECOND) if (await kube.node(name))["spec"].get("unschedulable")]


async def test_what_is_agreed_is_drained_first_and_the_rest_waits(yard: Yard, kube: Kubelets) -> None:
    async with runs_plans(yard):
        whole, request = await asked(yard)
        card = await yard.say(f"gpu request {request.id}", ANA)
        agree = f"gpu agree {request.id} --cluster {CLUSTER} --training vision/detr"
        assert f"[Go on] {agree}" in card
        assert (
            f"[Keep it 2 more hours] gpu snooze {request.id} --cluster {CLUSTER} --training vision/vit"
            in card
        )
        await yard.say(agree, ANA)
        first, second = await parts_in(yard, whole, PlanState.DONE, PlanState.WAITING)
        assert await cordoned(kube) == [FIRST]
        assert "ana may answer about vision/vit until" in second.held
        assert await kube.pods(FIRST) == []
        assert len(await kube.pods(SECOND)) == 1
        assert first.part_of == whole.id

        await yard.say(f"gpu snooze {request.id} --for 2h --training vit", ANA)
        card = await yard.say(f"gpu request {request.id}", ANA)
        assert "vision/detr: U_ANA lets it end." in card
        assert "vision/vit: U_ANA needs it until" in card
        assert await kube.pods(SECOND) != []
        yard.clock.move(timedelta(hours=3))
        await parts_in(yard, whole, PlanState.DONE, PlanState.DONE)
    async with yard.store.read() as snapshot:
        assert len(await snapshot.rows(ReclaimRequest).find()) == 1, "nobody is asked twice"
    assert await kube.pods(SECOND) == []


async def test_what_the_owner_needs_stays_and_the_rest_is_drained(yard: Yard, kube: Kubelets) -> None:
    async with runs_plans(yard):
        whole, request = await asked(yard)
        await yard.say(f"gpu keep {request.id} --training detr --reason 'a paper is due'", ANA)
        assert (await yard.stored(whole.id)).state is PlanState.WAITING, "the other is not answered"
        await yard.say(f"gpu agree {request.id} --training vit", ANA)
        first, _ = await parts_in(yard, whole, PlanState.CANCELLED, PlanState.DONE)
    assert first.error == "nothing was done: ana needs vision/detr: a paper is due"
    assert await cordoned(kube) == [SECOND]
    assert len(await kube.pods(FIRST)) == 1


async def test_an_answer_counts_as_long_as_a_part_waits_and_the_request_is_closed_then(
    yard: Yard, kube: Kubelets
) -> None:
    async with runs_plans(yard):
        whole, request = await asked(yard)
        await yard.say(f"gpu agree {request.id} --training detr", ANA)
        _, second = await parts_in(yard, whole, PlanState.DONE, PlanState.WAITING)
        assert "is about vision/detr and vision/vit: name one of them" in await yard.say(
            f"gpu agree {request.id} --training bert", ANA
        )
        await yard.say(f"plan cancel {second.id}")
        assert "no longer waits" in await yard.say(f"gpu agree {request.id} --training vit", ANA)
    watch = ConsentWatch(yard.store, {CLUSTER: yard.cluster})
    async with yard.store.read() as snapshot:
        open_one = await snapshot.rows(ReclaimRequest).get(request.id)
    assert open_one is not None
    await watch.work.do(open_one, yard.clock.now())
    async with yard.store.read() as snapshot:
        closed = await snapshot.rows(ReclaimRequest).get(request.id)
    assert closed is not None
    assert closed.state is ReclaimState.VOID


@pytest.mark.parametrize(
    ("words", "training", "state"),
    [
        pytest.param("go on vision/detr", "vision/detr", ReclaimState.AGREED, id="go on"),
        pytest.param(
            "after the next checkpoint of vit", "vision/vit", ReclaimState.AFTER_CHECKPOINT, id="later"
        ),
        pytest.param("keep vision/vit", "vision/vit", ReclaimState.KEPT, id="kept"),
        pytest.param("I need vision/vit", "vision/vit", ReclaimState.KEPT, id="needed"),
        pytest.param("vit 我还要用", "vision/vit", ReclaimState.KEPT, id="needed in Chinese"),
    ],
)
async def test_words_in_the_thread_of_a_request_answer_it(
    yard: Yard, words: str, training: str, state: ReclaimState
) -> None:
    async with runs_plans(yard):
        _, request = await asked(yard)
        thread = Origin(via="slack", channel="C_GPU", thread="1.1", request=request.id)
        line = Request(id="words", line=words, actor=ANA, at=yard.clock.now(), origin=thread)
        answer = await yard.pipeline.handle(line)
        assert answer is not None
        found = re.search(r"\[[^]]*\] (gpu \w+ .*)", text_of(answer.message))
        assert found is not None, text_of(answer.message)
        assert request.id in found[1]
        await yard.say(found[1].splitlines()[0], ANA)
        async with yard.store.read() as snapshot:
            (answered,) = await snapshot.rows(ReclaimRequest).find()
    states = {training_labels(answered)[one.training]: one.state for one in answered.answers}
    assert states[training] is state
