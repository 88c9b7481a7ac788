"""Plans cut off by a crash: the next process finishes them and records each outcome once."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from alerts.cards.posted import PostedCard
from alerts.incidents.grouping import open_incident
from alerts.incidents.incident import Incident
from bot.jobs.plan_runner import PlanRunner
from commands.execution.executor import PlanExecutor
from commands.execution.plan import Origin, Plan, PlanState, StepState, in_order
from commands.execution.plan_card import card_of
from commands.models import AuditEntry
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.execution import Crash, DyingStore
from tests.support.rows import an_alert
from tests.support.yard import CLUSTER, DANA, NOON, Yard, text_of

JOURNAL_WRITES = 2  # the start with its first step; the recorded row with the end


async def stored(yard: Yard, id: str) -> Plan:
    async with yard.store.unit() as unit:
        plan = await unit.rows(Plan).get(id)
    assert plan is not None
    return plan


async def outcomes(yard: Yard, id: str) -> list[AuditEntry]:
    async with yard.store.unit() as unit:
        return [
            entry
            for entry in await unit.rows(AuditEntry).find(plan=id)
            if entry.what in ("done", "failed", "cancelled")
        ]


async def next_process(yard: Yard, id: str) -> Plan:
    """Start a plan runner, as a new process does, and run it until the plan has ended."""
    runner = PlanRunner(yard.store, yard.executor, channel="C_GPU")
    stop = yard.store.listen(runner.wake)
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        task = group.create_task(runner.run())
        while (plan := await stored(yard, id)).ended_at is None:  # noqa: ASYNC110 - the store has no signal for one row
            await asyncio.sleep(0.01)
        task.cancel()
    stop()
    return plan


async def cut_off_after_the_patch_landed(yard: Yard, line: str, *, stopped: bool) -> Plan:
    """A plan whose process died before the response to its first patch; with `stopped`, it was cancelled first."""
    plan = await yard.confirmed(await yard.plan(line))
    real = yard.writer.patch

    async def patch(ref: Any, body: Any, **named: Any) -> Any:
        await real(ref, body, **named)
        if stopped:
            await yard.say(f"plan cancel {plan.id}", DANA)
        raise Crash

    yard.writer.patch = patch  # type: ignore[method-assign]
    with pytest.raises(Crash):
        await yard.executor.execute(plan)
    yard.writer.patch = real  # type: ignore[method-assign]
    return plan


async def test_a_cancelled_plan_that_was_cut_off_ends_after_the_step_in_progress(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    plan = await cut_off_after_the_patch_landed(yard, "node cordon gpu-a01 gpu-a02", stopped=True)
    ended = await next_process(yard, plan.id)
    assert (ended.state, ended.error) == (PlanState.CANCELLED, "cancelled by dana")
    states = [record.state for record in await yard.records(ended)]
    # The cordon in progress and its lease are done; the other node is left alone.
    assert states == [StepState.DONE, StepState.DONE, StepState.SKIPPED, StepState.SKIPPED]
    assert (await yard.records(ended))[0].outcome == "done"
    assert [entry.what for entry in await outcomes(yard, plan.id)] == ["cancelled"]
    other = kube.get("nodes", "", "gpu-a02")
    assert other is not None
    assert "unschedulable" not in other["spec"]
    await yard.do(f"plan undo {plan.id}")
    first = kube.get("nodes", "", "gpu-a01")
    assert first is not None
    assert not first["spec"].get("unschedulable")


async def test_a_plan_that_was_cancelled_long_ago_is_left_alone(yard: Yard) -> None:
    plan = await yard.plan("node cordon gpu-a01")
    await yard.say(f"plan cancel {plan.id}", DANA)
    before = await stored(yard, plan.id)
    other = await yard.confirmed(await yard.plan("node cordon gpu-a02"))
    await next_process(yard, other.id)
    assert await stored(yard, plan.id) == before
    assert before.ended_at is not None


async def test_a_plan_that_was_cut_off_is_finished_by_the_next_process_and_recorded_once(yard: Yard) -> None:
    plan = await cut_off_after_the_patch_landed(yard, "node cordon gpu-a01", stopped=False)
    ended = await next_process(yard, plan.id)
    assert ended.state is PlanState.DONE
    assert [entry.what for entry in await outcomes(yard, plan.id)] == ["done"]


@pytest.mark.parametrize("lands", [False, True], ids=["before the write", "after the write"])
@pytest.mark.parametrize("at", range(1, JOURNAL_WRITES + 1))
async def test_after_a_crash_at_any_write_the_audit_the_incident_and_the_undone_plan_have_the_outcome(
    yard: Yard, at: int, lands: bool
) -> None:
    async with yard.store.unit() as unit:
        await unit.rows(Incident).put(open_incident("i1", an_alert(), channels=("C_GPU",), now=NOON))
    first = await yard.do("node cordon gpu-a01")
    undo = await yard.confirmed(await yard.plan(f"plan undo {first.id}"))
    undo = replace(undo, origin=replace(undo.origin, incident="i1"))
    async with yard.store.unit() as unit:
        await unit.rows(Plan).put(undo)
    dying = DyingStore(yard.store, at, lands=lands)
    with pytest.raises(Crash):
        await PlanExecutor(dying, {CLUSTER: yard.writer}, yard.clock).execute(undo)
    ended = await next_process(yard, undo.id)
    assert ended.state is PlanState.DONE
    assert [entry.what for entry in await outcomes(yard, undo.id)] == ["done"]
    assert (await stored(yard, first.id)).undone_by == undo.id
    async with yard.store.unit() as unit:
        incident = await unit.rows(Incident).get("i1")
    assert incident is not None
    assert incident.fixed_by == (undo.id,)


async def test_the_outcome_of_a_plan_that_is_cancelled_before_it_starts_is_recorded(yard: Yard) -> None:
    plan = await yard.confirmed(await yard.plan("node cordon gpu-a01"))
    await yard.say(f"plan cancel {plan.id}", DANA)
    (entry,) = await outcomes(yard, plan.id)
    assert (entry.what, entry.text) == ("cancelled", "cancelled by dana")
    ended = await yard.executor.execute(plan)  # the runner had it already
    assert ended.state is PlanState.CANCELLED
    assert await outcomes(yard, plan.id) == [entry]


async def test_a_plan_is_not_undone_while_a_step_is_in_progress(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    plan = await yard.confirmed(await yard.plan("node cordon gpu-a01 gpu-a02"))
    real, answer = yard.writer.patch, ""

    async def patch(ref: Any, body: Any, **named: Any) -> Any:
        nonlocal answer
        if ref.name == "gpu-a02":
            await yard.say(f"plan cancel {plan.id}", DANA)
            answer = await yard.say(f"plan undo {plan.id}", DANA)
            assert "Undo" not in text_of(card_of(plan, await yard.records(plan)))
        return await real(ref, body, **named)

    yard.writer.patch = patch  # type: ignore[method-assign]
    ended = await yard.executor.execute(plan)
    yard.writer.patch = real  # type: ignore[method-assign]
    assert answer == f"Plan {plan.id} is still finishing its current step: try again in a moment."
    assert "Undo" in text_of(card_of(ended, await yard.records(ended)))
    await yard.do(f"plan undo {plan.id}")
    for name in ("gpu-a01", "gpu-a02"):
        node = kube.get("nodes", "", name)
        assert node is not None
        assert not node["spec"].get("unschedulable")


async def test_an_automated_plan_that_changes_only_stored_rows_has_no_card(yard: Yard) -> None:
    plan = await yard.confirmed(await yard.plan("node cordon gpu-a01"))
    copies = [replace(plan, id="p8"), replace(plan, id="p9", stages=in_order(*plan.steps[1:]))]
    async with yard.store.unit() as unit:
        await unit.rows(Plan).delete(plan.id)
        for copy in copies:
            await unit.rows(Plan).put(replace(copy, origin=Origin(via="agenda")))
    for copy in copies:
        await next_process(yard, copy.id)
    async with yard.store.unit() as unit:
        assert [card.row_id for card in await unit.rows(PostedCard).find()] == ["p8"]
