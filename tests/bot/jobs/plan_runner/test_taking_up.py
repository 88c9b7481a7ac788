"""This file lets the process die in the middle of deeds: the next life ends them and records how, once."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from alerts.incidents.grouping import open_incident
from bot.jobs.plan_runner import PlanRunner
from commands.models import AuditEntry
from commands.plans.executor import PlanExecutor
from commands.plans.plan import Origin, Plan, PlanState, StepState
from commands.plans.preview import card_of
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.execution import Crash, DyingStore
from tests.support.rows import an_alert
from tests.support.yard import CLUSTER, DANA, NOON, Yard, a_node_tree, told, yard_before

JOURNAL_WRITES = 7  # that it runs, two for each of two steps, the row that is recorded, that it is done


@pytest.fixture
async def kube() -> AsyncIterator[KubernetesLookalike]:
    async with KubernetesLookalike.running(controllers=False) as kube:
        for name in ("gpu-a01", "gpu-a02"):
            kube.create(a_node_tree(name), keep_status=True)
        yield kube


@pytest.fixture
async def yard(kube: KubernetesLookalike, tmp_path: Path) -> AsyncIterator[Yard]:
    async with yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard:
        yield yard


async def kept(yard: Yard, id: str) -> Plan:
    async with yard.store.unit() as unit:
        plan = await unit.plans.get(id)
    assert plan is not None
    return plan


async def outcomes(yard: Yard, id: str) -> list[AuditEntry]:
    async with yard.store.unit() as unit:
        return [
            entry for entry in await unit.audit.find(plan=id) if entry.what in ("done", "failed", "cancelled")
        ]


async def next_life(yard: Yard, id: str) -> Plan:
    """Run a doer as a start of the process does, until the plan has ended."""
    doer = PlanRunner(yard.store, yard.performer, channel="C_GPU")
    stop = yard.store.listen(doer.wake)
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        life = group.create_task(doer.run())
        while (plan := await kept(yard, id)).ended_at is None:  # noqa: ASYNC110 - the store has no bell for one row
            await asyncio.sleep(0.01)
        life.cancel()
    stop()
    return plan


async def cut_off_after_the_patch_landed(yard: Yard, line: str, *, stopped: bool) -> Plan:
    """A plan whose process died before the first answer came in; somebody had pressed Stop before."""
    plan = await yard.confirmed(await yard.plan(line))
    real = yard.writer.patch

    async def patch(step: Any, **named: Any) -> Any:
        await real(step, **named)
        if stopped:
            await yard.say(f"plan cancel {plan.id}", DANA)
        raise Crash

    yard.writer.patch = patch  # type: ignore[method-assign]
    with pytest.raises(Crash):
        await yard.performer.execute(plan)
    yard.writer.patch = real  # type: ignore[method-assign]
    return plan


async def test_a_plan_that_was_stopped_and_cut_off_ends_after_the_step_that_was_begun(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    plan = await cut_off_after_the_patch_landed(yard, "node cordon gpu-a01 gpu-a02", stopped=True)
    over = await next_life(yard, plan.id)
    assert (over.state, over.error) == (PlanState.CANCELLED, "cancelled by dana")
    states = [record.state for record in over.records]
    # The lease stands beside the cordon that was begun; the other node is left.
    assert states == [StepState.DONE, StepState.DONE, StepState.SKIPPED, StepState.SKIPPED]
    assert over.records[0].outcome == "was done already"
    assert [entry.what for entry in await outcomes(yard, plan.id)] == ["cancelled"]
    other = kube.get("nodes", "", "gpu-a02")
    assert other is not None
    assert "unschedulable" not in other["spec"]
    await yard.do(f"plan undo {plan.id}")
    first = kube.get("nodes", "", "gpu-a01")
    assert first is not None
    assert not first["spec"].get("unschedulable")


async def test_a_plan_that_was_stopped_long_ago_and_has_ended_is_left_alone(yard: Yard) -> None:
    plan = await yard.plan("node cordon gpu-a01")
    await yard.say(f"plan cancel {plan.id}", DANA)
    before = await kept(yard, plan.id)
    other = await yard.confirmed(await yard.plan("node cordon gpu-a02"))
    await next_life(yard, other.id)
    assert await kept(yard, plan.id) == before
    assert before.ended_at is not None


async def test_a_plan_that_was_cut_off_is_done_in_the_next_life_and_recorded_once(yard: Yard) -> None:
    plan = await cut_off_after_the_patch_landed(yard, "node cordon gpu-a01", stopped=False)
    over = await next_life(yard, plan.id)
    assert over.state is PlanState.DONE
    assert [entry.what for entry in await outcomes(yard, plan.id)] == ["done"]


@pytest.mark.parametrize("lands", [False, True], ids=["before it lands", "just after it landed"])
@pytest.mark.parametrize("at", range(1, JOURNAL_WRITES + 1))
async def test_killed_at_any_write_the_outcome_is_in_the_audit_on_the_incident_and_with_what_it_undid(
    yard: Yard, at: int, lands: bool
) -> None:
    async with yard.store.unit() as unit:
        await unit.incidents.put(open_incident("i1", an_alert(), channels=("C_GPU",), now=NOON))
    first = await yard.do("node cordon gpu-a01")
    undo = await yard.confirmed(await yard.plan(f"plan undo {first.id}"))
    undo = replace(undo, origin=replace(undo.origin, incident="i1"))
    async with yard.store.unit() as unit:
        await unit.plans.put(undo)
    dying = DyingStore(yard.store, at, lands=lands)
    with pytest.raises(Crash):
        await PlanExecutor(dying, {CLUSTER: yard.writer}, yard.clock).execute(undo)
    over = await next_life(yard, undo.id)
    assert over.state is PlanState.DONE
    assert [entry.what for entry in await outcomes(yard, undo.id)] == ["done"]
    assert (await kept(yard, first.id)).undone_by == undo.id
    async with yard.store.unit() as unit:
        incident = await unit.incidents.get("i1")
    assert incident is not None
    assert incident.fixed_by == (undo.id,)


async def test_a_plan_that_is_cancelled_before_it_begins_has_its_outcome_recorded(yard: Yard) -> None:
    plan = await yard.confirmed(await yard.plan("node cordon gpu-a01"))
    await yard.say(f"plan cancel {plan.id}", DANA)
    (entry,) = await outcomes(yard, plan.id)
    assert (entry.what, entry.text) == ("cancelled", "cancelled by dana")
    over = await yard.performer.execute(plan)  # it was in the doer's hand already
    assert over.state is PlanState.CANCELLED
    assert await outcomes(yard, plan.id) == [entry]


async def test_a_plan_that_still_does_a_step_is_not_undone_before_that_step_is_settled(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    plan = await yard.confirmed(await yard.plan("node cordon gpu-a01 gpu-a02"))
    real, said = yard.writer.patch, ""

    async def patch(step: Any, **named: Any) -> Any:
        nonlocal said
        if step.ref.name == "gpu-a02":
            await yard.say(f"plan cancel {plan.id}", DANA)
            said = await yard.say(f"plan undo {plan.id}", DANA)
            assert "Undo" not in told(card_of(await kept(yard, plan.id)))
        return await real(step, **named)

    yard.writer.patch = patch  # type: ignore[method-assign]
    over = await yard.performer.execute(plan)
    yard.writer.patch = real  # type: ignore[method-assign]
    assert said == f"Plan {plan.id} still does the step that was begun: try again in a moment."
    assert "Undo" in told(card_of(over))
    await yard.do(f"plan undo {plan.id}")
    for name in ("gpu-a01", "gpu-a02"):
        node = kube.get("nodes", "", name)
        assert node is not None
        assert not node["spec"].get("unschedulable")


async def test_a_robot_that_only_moves_our_own_rows_has_no_card(yard: Yard) -> None:
    plan = await yard.confirmed(await yard.plan("node cordon gpu-a01"))
    kinds = [replace(plan, id="p8"), replace(plan, id="p9", steps=plan.steps[1:], records=plan.records[1:])]
    async with yard.store.unit() as unit:
        await unit.plans.delete(plan.id)
        for one in kinds:
            await unit.plans.put(replace(one, origin=Origin(via="agenda")))
    for one in kinds:
        await next_life(yard, one.id)
    async with yard.store.unit() as unit:
        assert [card.row_id for card in await unit.cards.find()] == ["p8"]
