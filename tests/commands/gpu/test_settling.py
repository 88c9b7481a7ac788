"""Every open request is settled in the end, whatever prevented it at first."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.cards.plan_cards import wanted_plan_card
from commands.core.permissions import Permissions
from commands.core.pipeline import Pipeline
from commands.execution.plan import Plan, PlanState
from commands.gpu.reclaim_card import reclaim_card
from commands.gpu.unanswered import lost_settlement
from commands.models import AuditEntry, DueCommand, ReclaimRequest, ReclaimState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.gpu.conftest import an_agenda, measured
from tests.commands.gpu.test_reclaim import MINUTE, asked, dues, is_suspended, the_request
from tests.support.yard import DANA, NOON, RECLAIM, Yard, text_of


class Crash(BaseException):
    """A crash of the process."""


async def due_request(yard: Yard, kube: KubernetesLookalike) -> ReclaimRequest:
    """Return an overdue request for a training that is still idle."""
    request = await asked(yard, kube)
    yard.clock.move(30 * MINUTE)
    measured(yard, {}, times=61)
    return request


async def run_agenda(yard: Yard) -> None:
    """Run the agenda once, and execute the plans that it confirmed."""
    await an_agenda(yard).run_due()
    async with yard.store.unit() as unit:
        confirmed = await unit.rows(Plan).find(state=PlanState.CONFIRMED.value)
    for plan in confirmed:
        await yard.executor.execute(plan)


async def failures(yard: Yard) -> list[AuditEntry]:
    async with yard.store.unit() as unit:
        return [
            entry
            for entry in await unit.rows(AuditEntry).find(actor=RECLAIM.person)
            if entry.what == "failed"
        ]


async def is_retried_and_settled(yard: Yard, kube: KubernetesLookalike) -> bool:
    """Whether it is due again in ten minutes and freed then."""
    assert (await the_request(yard)).state is ReclaimState.ASKED
    (due,) = await dues(yard)
    assert due.at == yard.clock.now() + 10 * MINUTE
    yard.clock.move(10 * MINUTE)
    measured(yard, {}, times=61)
    await run_agenda(yard)
    return (await the_request(yard)).state is ReclaimState.FREED and await is_suspended(kube)


async def test_a_settled_request_leaves_the_agenda(yard: Yard, kube: KubernetesLookalike) -> None:
    await due_request(yard, kube)
    await run_agenda(yard)
    assert (await the_request(yard)).state is ReclaimState.FREED
    assert not await dues(yard)
    await run_agenda(yard)
    assert not await dues(yard)
    assert not await failures(yard)


async def test_the_result_is_posted_where_the_request_was_made(yard: Yard, kube: KubernetesLookalike) -> None:
    request = await due_request(yard, kube)
    await run_agenda(yard)
    plan = await yard.newest()
    assert plan is not None
    assert plan.line.startswith(f"gpu settle {request.id}")
    async with yard.store.read() as snapshot:
        card = await wanted_plan_card(plan, snapshot, "C_DEFAULT")
    assert card is not None
    assert card.channel == request.channel == "C_GPU"


async def test_an_error_of_the_server_only_delays_the_settlement(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await due_request(yard, kube)
    kube.fail(lambda seen: seen.method == "PATCH", 503, times=1)
    await run_agenda(yard)
    (entry,) = await failures(yard)
    assert "Kubernetes would refuse to" in entry.text
    assert "503" in entry.text
    assert entry.text.endswith("; the next attempt is at 2026-11-21 12:40 UTC")
    assert await is_retried_and_settled(yard, kube)


async def test_the_pauses_grow_while_the_server_refuses(yard: Yard, kube: KubernetesLookalike) -> None:
    await due_request(yard, kube)
    kube.fail(lambda seen: seen.method == "PATCH", 503, times=6)
    pauses = []
    for _ in range(6):
        await run_agenda(yard)
        (due,) = await dues(yard)
        pauses.append((due.at - yard.clock.now()) // MINUTE)
        yard.clock.move(due.at - yard.clock.now())
        measured(yard, {}, times=61)
    assert pauses == [10, 10, 20, 40, 60, 60]


async def test_a_failed_plan_is_replaced_by_a_new_one(yard: Yard, kube: KubernetesLookalike) -> None:
    await due_request(yard, kube)
    kube.fail(lambda seen: seen.method == "PATCH" and not seen.dry_run, 403, times=1)
    await run_agenda(yard)
    assert not await dues(yard)
    await run_agenda(yard)
    assert await is_retried_and_settled(yard, kube)


async def test_a_crash_before_planning_only_delays_the_settlement(
    yard: Yard, kube: KubernetesLookalike, monkeypatch: pytest.MonkeyPatch
) -> None:
    await due_request(yard, kube)

    async def die(self: Pipeline, *_: Any) -> None:
        raise Crash

    with monkeypatch.context() as patched:
        patched.setattr(Pipeline, "_run", die)
        with pytest.raises(Crash):
            await run_agenda(yard)
    await run_agenda(yard)
    (entry,) = await failures(yard)
    assert entry.text == "it was started and not finished; the next attempt is at 2026-11-21 12:40 UTC"
    assert await is_retried_and_settled(yard, kube)


async def test_a_bug_in_one_line_ends_neither_the_agenda_nor_the_request(
    yard: Yard, kube: KubernetesLookalike, monkeypatch: pytest.MonkeyPatch
) -> None:
    await due_request(yard, kube)

    async def fail(self: Pipeline, *_: Any) -> None:
        raise KeyError("a bug")

    with monkeypatch.context() as patched:
        patched.setattr(Pipeline, "_run", fail)
        await run_agenda(yard)
    assert await is_retried_and_settled(yard, kube)


async def test_a_request_in_a_confirmed_plan_is_not_scheduled_again(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    request = await due_request(yard, kube)
    await an_agenda(yard).run_due()
    async with yard.store.unit() as unit:
        (plan,) = await unit.rows(Plan).find(state=PlanState.CONFIRMED.value)
        assert await lost_settlement(request, unit, yard.clock.now()) is None
        await unit.rows(Plan).put(replace(plan, state=PlanState.FAILED))
        due = await lost_settlement(request, unit, yard.clock.now())
    assert due is not None
    assert due.line == f"gpu settle {request.id} --cluster prod-a"


async def test_undoing_a_settlement_counts_as_an_answer(yard: Yard, kube: KubernetesLookalike) -> None:
    await due_request(yard, kube)
    await run_agenda(yard)
    settling = await yard.newest()
    assert settling is not None
    undone = await yard.do(f"plan undo {settling.id}", DANA)
    assert undone.state is PlanState.DONE, undone.error
    await run_agenda(yard)
    assert not await dues(yard)
    request = await the_request(yard)
    assert (request.state, request.answered_by) == (ReclaimState.KEPT, "U_DANA")
    shown = text_of(reclaim_card(request, yard.clock.now()))
    assert f"U_DANA needs them: plan {settling.id}, which freed them, was undone." in shown
    assert not await is_suspended(kube)


async def test_a_settlement_missing_from_the_agenda_keeps_its_time(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    request = await due_request(yard, kube)
    (due,) = await dues(yard)
    async with yard.store.unit() as unit:
        await unit.rows(DueCommand).delete(due.id)
    await run_agenda(yard)
    (again,) = await dues(yard)
    assert again == due
    assert again.at == request.grace_until
    await run_agenda(yard)
    assert (await the_request(yard)).state is ReclaimState.FREED


async def test_a_request_that_cannot_be_settled_does_not_block_another(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    old = await due_request(yard, kube)
    permissions = yard.pipeline.permissions
    yard.pipeline = replace(yard.pipeline, permissions=Permissions(teams=permissions.teams, automation={}))
    await run_agenda(yard)
    (entry,) = await failures(yard)
    assert "do not allow gpu settle" in entry.text
    assert f"its owner already has request {old.id} (" in await yard.say("gpu free", DANA)
    yard.clock.move(timedelta(hours=1))
    plan = await yard.do("gpu free", DANA)
    assert plan.state is PlanState.DONE, plan.error
    async with yard.store.unit() as unit:
        first, second = await unit.rows(ReclaimRequest).find()
    assert (first.id, first.state, first.keep_reason) == (
        old.id,
        ReclaimState.VOID,
        "replaced by a new request",
    )
    assert (second.state, second.grace_until) == (ReclaimState.ASKED, NOON + 120 * MINUTE)
