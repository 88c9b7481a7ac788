"""Undoing `gpu free` withdraws the request, but neither its answer nor the next request."""

from alerts.cards.posted import PostedCard
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext
from bot.jobs.launch_watcher import LaunchWatcher
from collectors.facts.redaction import Redactor
from commands.execution.plan import Plan
from commands.models import ReclaimRequest, ReclaimState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.gpu.conftest import measured, trained
from tests.commands.gpu.test_reclaim import asked, dues, the_request
from tests.support.yard import ANA, DANA, Yard, text_of


async def the_plan(yard: Yard) -> Plan:
    plan = await yard.newest()
    assert plan is not None
    return plan


async def requests(yard: Yard) -> list[ReclaimRequest]:
    async with yard.store.unit() as unit:
        return list(await unit.rows(ReclaimRequest).find())


async def test_the_card_shows_that_the_request_was_withdrawn(yard: Yard, kube: KubernetesLookalike) -> None:
    await asked(yard, kube)
    watcher = LaunchWatcher(yard.store, {}, yard.clock, redact=Redactor(()), channel="C_GPU")
    await watcher.check()
    await yard.do(f"plan undo {(await the_plan(yard)).id}", DANA)
    assert not await dues(yard)
    card_context = CardContext(rules=dict, training=lambda *_: None, blind=lambda *_: {})
    async with yard.store.unit() as unit:
        (card,) = await unit.rows(PostedCard).find(kind="reclaim_request")
        message = (await CardCatalogue(card_context).compose(card, unit, yard.clock.now())).message
    assert message is not None
    assert "Nothing was done: the request was withdrawn." in text_of(message)


async def test_the_next_request_has_its_own_id(yard: Yard, kube: KubernetesLookalike) -> None:
    first = await asked(yard, kube)
    await yard.do(f"plan undo {(await the_plan(yard)).id}", DANA)
    await yard.do("gpu free --grace 30m", DANA)
    states = {request.id: request.state for request in await requests(yard)}
    assert states.pop(first.id) is ReclaimState.VOID
    assert list(states.values()) == [ReclaimState.ASKED]


async def test_undo_does_not_revert_an_answer(yard: Yard, kube: KubernetesLookalike) -> None:
    request = await asked(yard, kube)
    plan = await the_plan(yard)
    await yard.say(f"gpu keep {request.id}", ANA)
    reply = await yard.say(f"plan undo {plan.id}", DANA)
    assert f"request {request.id} for vision-detr/detr, which is kept by now" in reply
    assert (await the_request(yard)).state is ReclaimState.KEPT


async def test_undo_withdraws_only_requests_without_an_answer(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube)
    await trained(yard, kube, "vit", workers=1)
    measured(yard, {}, names=("detr", "vit"))
    plan = await yard.do("gpu free --grace 30m", DANA)
    detr, vit = sorted(await requests(yard), key=lambda request: request.training)
    await yard.say(f"gpu snooze {detr.id} --for 1h", ANA)
    undone = await yard.do(f"plan undo {plan.id}", DANA)
    assert undone.notes == (
        f"This is not undone: request {detr.id} for vision-detr/detr, which is snoozed by now",
    )
    async with yard.store.unit() as unit:
        assert (await unit.rows(ReclaimRequest).get(vit.id)).state is ReclaimState.VOID  # type: ignore[union-attr]
        assert (await unit.rows(ReclaimRequest).get(detr.id)).state is ReclaimState.SNOOZED  # type: ignore[union-attr]
    assert [due.id for due in await dues(yard)] == [f"reclaim/{detr.id}"]
