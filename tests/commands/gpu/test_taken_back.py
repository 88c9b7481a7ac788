"""This file tests what undoing `gpu free` takes back: the question, and neither its answer nor the next question."""

from bot.delivery.composers import CardContext, composers
from bot.jobs.launch_watcher import LaunchWatcher
from collectors.facts.redaction import Redactor
from commands.models import ReclaimRequest, ReclaimState
from commands.plans.plan import Plan
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.gpu.conftest import measured, trained
from tests.commands.gpu.test_claims import asked, dues, the_claim
from tests.support.yard import ANA, DANA, Yard, told


async def the_plan(yard: Yard) -> Plan:
    plan = await yard.newest()
    assert plan is not None
    return plan


async def claims(yard: Yard) -> list[ReclaimRequest]:
    async with yard.store.unit() as unit:
        return list(await unit.reclaim_requests.find())


async def test_the_card_says_that_the_question_was_taken_back(yard: Yard, kube: KubernetesLookalike) -> None:
    await asked(yard, kube)
    follower = LaunchWatcher(yard.store, {}, yard.clock, redact=Redactor(()), channel="C_GPU")
    await follower.look()
    await yard.do(f"plan undo {(await the_plan(yard)).id}", DANA)
    assert not await dues(yard)
    showing = CardContext(rules=dict, training=lambda *_: None, blind=lambda _: {})
    async with yard.store.unit() as unit:
        (card,) = await unit.cards.find(kind="reclaim_request")
        view = (await composers(showing)[card.kind](card, unit, yard.clock.now())).message
    assert view is not None
    assert "Nothing was done: the question was taken back." in told(view)


async def test_the_next_question_has_a_card_of_its_own(yard: Yard, kube: KubernetesLookalike) -> None:
    first = await asked(yard, kube)
    await yard.do(f"plan undo {(await the_plan(yard)).id}", DANA)
    await yard.do("gpu free --grace 30m", DANA)
    states = {claim.id: claim.state for claim in await claims(yard)}
    assert states.pop(first.id) is ReclaimState.VOID
    assert list(states.values()) == [ReclaimState.ASKED]


async def test_an_answer_is_not_taken_back_with_the_question(yard: Yard, kube: KubernetesLookalike) -> None:
    claim = await asked(yard, kube)
    plan = await the_plan(yard)
    await yard.say(f"gpu keep {claim.id}", ANA)
    said = await yard.say(f"plan undo {plan.id}", DANA)
    assert f"claim {claim.id} on vision-detr/detr, which is kept by now" in said
    assert (await the_claim(yard)).state is ReclaimState.KEPT


async def test_of_two_questions_the_one_without_an_answer_is_taken_back(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await trained(yard, kube)
    await trained(yard, kube, "vit", workers=1)
    measured(yard, {}, names=("detr", "vit"))
    plan = await yard.do("gpu free --grace 30m", DANA)
    detr, vit = sorted(await claims(yard), key=lambda claim: claim.training)
    await yard.say(f"gpu snooze {detr.id} --for 1h", ANA)
    undone = await yard.do(f"plan undo {plan.id}", DANA)
    assert undone.notes == (
        f"This stays as it is: claim {detr.id} on vision-detr/detr, which is snoozed by now",
    )
    async with yard.store.unit() as unit:
        assert (await unit.reclaim_requests.get(vit.id)).state is ReclaimState.VOID  # type: ignore[union-attr]
        assert (await unit.reclaim_requests.get(detr.id)).state is ReclaimState.SNOOZED  # type: ignore[union-attr]
    assert [due.id for due in await dues(yard)] == [f"reclaim/{detr.id}"]
