"""An owner of idle GPUs is asked directly, reminded at half time, and learns how to start again."""

from dataclasses import replace

import pytest

from alerts.cards.posted import PostedCard, ThreadReply
from alerts.cards.text import plain
from bot.cards.reclaim_cards import wanted_reclaim_cards
from bot.jobs.launch_watcher import LaunchWatcher
from collectors.facts.redaction import Redactor
from commands.core.grant import Grant
from commands.core.permissions import Permissions
from commands.execution.plan import Plan, PlanState
from commands.gpu.freeing_plan import freeing_plan
from commands.gpu.reclaim_card import reclaim_card
from commands.models import ReclaimState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.gpu.conftest import an_agenda, measured
from tests.commands.gpu.test_reclaim import MINUTE, asked, is_suspended, the_request
from tests.support.yard import ANA, BO, Yard, text_of

NO_GRANTS = Permissions(
    teams={"sre": Grant(commands=("*",)), "speech": Grant(commands=("plan *",))},
    automation={"reclaim": Grant(commands=("gpu settle",))},
)


async def replies(yard: Yard) -> list[ThreadReply]:
    async with yard.store.unit() as unit:
        return sorted(await unit.rows(ThreadReply).find(), key=lambda one: one.id)


async def cards(yard: Yard) -> None:
    """Add the cards of the requests, as the bot does."""
    watcher = LaunchWatcher(
        yard.store, {}, yard.clock, redact=Redactor(()), channel="C_GPU", reaches_people=lambda _: True
    )
    await watcher.check()


async def freed(yard: Yard) -> Plan:
    """Let the automation free the GPUs of the open request, and return its plan."""
    yard.clock.move(30 * MINUTE)
    measured(yard, {}, times=61)
    await an_agenda(yard).run_due()
    async with yard.store.unit() as unit:
        (plan,) = await unit.rows(Plan).find(state=PlanState.CONFIRMED.value)
    done = await yard.executor.execute(plan)
    assert done.state is PlanState.DONE, done.error
    return done


async def test_the_owner_gets_a_card_of_their_own_where_people_can_be_reached(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    request = replace(await asked(yard, kube), channel="slack:C_GPU")
    both = wanted_reclaim_cards(request, "", reaches_people=lambda kind: kind == "slack")
    assert [card.channel for card in both] == ["slack:C_GPU", "slack:U_ANA"]
    (one,) = wanted_reclaim_cards(request, "", reaches_people=lambda _: False)
    assert one.channel == "slack:C_GPU"
    (one,) = wanted_reclaim_cards(replace(request, owner_id=""), "", reaches_people=lambda _: True)
    assert one.channel == "slack:C_GPU"


async def test_the_owner_is_reminded_once_at_half_time(yard: Yard, kube: KubernetesLookalike) -> None:
    request = await asked(yard, kube)
    await cards(yard)
    agenda = an_agenda(yard)
    yard.clock.move(14 * MINUTE)
    await agenda.run_due()
    assert not await replies(yard)
    yard.clock.move(MINUTE)
    for _ in range(2):
        await agenda.run_due()
        said = await replies(yard)
        assert len(said) == 2  # in the channel, and directly
    for reply in said:
        assert plain(reply.text) == (
            "ana: vision-detr/detr with 8 idle GPUs is suspended unless you answer by 2026-11-21 12:30 UTC."
        )
        assert [button.line for button in reply.buttons] == [
            f"gpu keep {request.id} --cluster prod-a",
            f"gpu snooze {request.id} --cluster prod-a --for 2h",
            f"gpu release {request.id} --cluster prod-a",
        ]


async def test_an_owner_who_has_answered_is_not_reminded(yard: Yard, kube: KubernetesLookalike) -> None:
    request = await asked(yard, kube)
    await cards(yard)
    await yard.say(f"gpu keep {request.id}", ANA)
    yard.clock.move(20 * MINUTE)
    await an_agenda(yard).run_due()
    assert not await replies(yard)


async def test_the_owner_reads_which_plan_freed_the_gpus_and_starts_the_training_again(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    """Even without a grant for anything: it is their training."""
    await asked(yard, kube)
    await cards(yard)
    yard.pipeline = replace(yard.pipeline, permissions=NO_GRANTS)
    plan = await freed(yard)
    assert await is_suspended(kube)
    await an_agenda(yard).run_due()
    said = await replies(yard)
    line = f"plan undo {plan.id} --cluster prod-a"
    assert {plain(one.text) for one in said} == {
        f"ana: vision-detr/detr was suspended, as nobody answered (plan {plan.id})."
    }
    assert [[(one.label, one.line) for one in reply.buttons] for reply in said] == [
        [("Start it again", line)]
    ] * 2
    async with yard.store.unit() as unit:
        assert not any(card.is_final for card in await unit.rows(PostedCard).find())
    request = await the_request(yard)
    async with yard.store.read() as snapshot:
        found = await freeing_plan(request, snapshot)
    assert found is not None
    shown = text_of(reclaim_card(request, yard.clock.now(), plan=found.id))
    assert f"No answer in time, so it was suspended by plan {plan.id}." in shown
    assert f"[Start it again] {line}" in shown

    undo = await yard.plan(line, ANA)
    over = await yard.executor.execute(await yard.confirmed(undo, ANA))
    assert over.state is PlanState.DONE, over.error
    assert not await is_suspended(kube)
    request = await the_request(yard)
    assert (request.state, request.answered_by) == (ReclaimState.KEPT, "U_ANA")


@pytest.mark.parametrize("teams", [frozenset({"speech"}), frozenset[str]()], ids=["a team", "no team"])
async def test_others_need_a_grant_to_start_it_again(
    yard: Yard, kube: KubernetesLookalike, teams: frozenset[str]
) -> None:
    await asked(yard, kube)
    plan = await freed(yard)
    yard.pipeline = replace(yard.pipeline, permissions=NO_GRANTS)
    said = await yard.say(f"plan undo {plan.id}", replace(BO, teams=teams))
    assert "may run" in said
    assert await is_suspended(kube)
