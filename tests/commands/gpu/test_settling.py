"""This file tests that the agenda settles every open claim in the end, whatever kept it from doing so at first."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.jobs.agenda import Agenda
from commands.core.permissions import Permissions
from commands.core.pipeline import Pipeline
from commands.gpu.unanswered import lost_settlements
from commands.models import AuditEntry, ReclaimRequest, ReclaimState
from commands.plans.plan import PlanState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.gpu.conftest import measured
from tests.commands.gpu.test_claims import MINUTE, asked, dues, is_suspended, the_claim
from tests.support.yard import CLAIMS, DANA, NOON, Yard


class Crash(BaseException):
    """The process dies."""


async def due_claim(yard: Yard, kube: KubernetesLookalike) -> ReclaimRequest:
    """A claim whose time is up, on a training that still does nothing."""
    claim = await asked(yard, kube)
    yard.clock.move(30 * MINUTE)
    measured(yard, {}, times=61)
    return claim


async def look(yard: Yard) -> None:
    """One look of the agenda, and all that it confirmed is performed."""
    await Agenda(yard.store, yard.clock, yard.pipeline.handle).look()
    async with yard.store.unit() as unit:
        confirmed = await unit.plans.find(state=PlanState.CONFIRMED.value)
    for plan in confirmed:
        await yard.performer.execute(plan)


async def failures(yard: Yard) -> list[AuditEntry]:
    async with yard.store.unit() as unit:
        return [entry for entry in await unit.audit.find(actor=CLAIMS.id) if entry.what == "failed"]


async def is_tried_again_and_settled(yard: Yard, kube: KubernetesLookalike) -> bool:
    """Whether it is due in ten minutes, and freed then."""
    assert (await the_claim(yard)).state is ReclaimState.ASKED
    (due,) = await dues(yard)
    assert due.at == yard.clock.now() + 10 * MINUTE
    yard.clock.move(10 * MINUTE)
    measured(yard, {}, times=61)
    await look(yard)
    return (await the_claim(yard)).state is ReclaimState.FREED and await is_suspended(kube)


async def test_a_claim_that_is_settled_leaves_the_agenda(yard: Yard, kube: KubernetesLookalike) -> None:
    await due_claim(yard, kube)
    await look(yard)
    assert (await the_claim(yard)).state is ReclaimState.FREED
    assert not await dues(yard)
    await look(yard)
    assert not await dues(yard)
    assert not await failures(yard)


async def test_one_refusal_of_the_server_only_puts_it_off(yard: Yard, kube: KubernetesLookalike) -> None:
    await due_claim(yard, kube)
    kube.fail(lambda seen: seen.method == "PATCH", 503, times=1)
    await look(yard)
    (entry,) = await failures(yard)
    assert "Kubernetes would refuse to" in entry.text
    assert "503" in entry.text
    assert entry.text.endswith("; it is tried again at 12:40 UTC")
    assert await is_tried_again_and_settled(yard, kube)


async def test_the_pauses_grow_for_as_long_as_it_is_refused(yard: Yard, kube: KubernetesLookalike) -> None:
    await due_claim(yard, kube)
    kube.fail(lambda seen: seen.method == "PATCH", 503, times=6)
    pauses = []
    for _ in range(6):
        await look(yard)
        (due,) = await dues(yard)
        pauses.append((due.at - yard.clock.now()) // MINUTE)
        yard.clock.move(due.at - yard.clock.now())
        measured(yard, {}, times=61)
    assert pauses == [10, 10, 20, 40, 60, 60]


async def test_a_plan_that_fails_under_way_is_made_anew(yard: Yard, kube: KubernetesLookalike) -> None:
    await due_claim(yard, kube)
    kube.fail(lambda seen: seen.method == "PATCH" and not seen.dry_run, 403, times=1)
    await look(yard)
    assert not await dues(yard)
    await look(yard)
    assert await is_tried_again_and_settled(yard, kube)


async def test_a_crash_between_the_gesture_and_the_plan_only_puts_it_off(
    yard: Yard, kube: KubernetesLookalike, monkeypatch: pytest.MonkeyPatch
) -> None:
    await due_claim(yard, kube)

    async def die(self: Pipeline, *_: Any) -> None:
        raise Crash

    with monkeypatch.context() as patched:
        patched.setattr(Pipeline, "_run", die)
        with pytest.raises(Crash):
            await look(yard)
    await look(yard)
    (entry,) = await failures(yard)
    assert entry.text == "it was begun and not finished; it is tried again at 12:40 UTC"
    assert await is_tried_again_and_settled(yard, kube)


async def test_a_bug_in_one_line_ends_neither_the_agenda_nor_the_claim(
    yard: Yard, kube: KubernetesLookalike, monkeypatch: pytest.MonkeyPatch
) -> None:
    await due_claim(yard, kube)

    async def fail(self: Pipeline, *_: Any) -> None:
        raise KeyError("a bug")

    with monkeypatch.context() as patched:
        patched.setattr(Pipeline, "_run", fail)
        await look(yard)
    assert await is_tried_again_and_settled(yard, kube)


async def test_a_plan_under_way_is_not_made_twice(yard: Yard, kube: KubernetesLookalike) -> None:
    claim = await due_claim(yard, kube)
    await Agenda(yard.store, yard.clock, yard.pipeline.handle).look()
    async with yard.store.unit() as unit:
        (plan,) = await unit.plans.find(state=PlanState.CONFIRMED.value)
        assert await lost_settlements(unit, yard.clock.now()) == []
        await unit.plans.put(replace(plan, state=PlanState.FAILED))
        (due,) = await lost_settlements(unit, yard.clock.now())
    assert due.line == f"gpu settle {claim.id} --cluster prod-a"


async def test_what_comes_of_an_undone_settling_is_looked_at_again(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await due_claim(yard, kube)
    await look(yard)
    settling = await yard.newest()
    assert settling is not None
    undone = await yard.do(f"plan undo {settling.id}", DANA)
    assert undone.state is PlanState.DONE, undone.error
    await look(yard)
    (due,) = await dues(yard)
    assert due.at == NOON + 40 * MINUTE
    yard.clock.move(10 * MINUTE)
    await look(yard)
    claim = await the_claim(yard)
    assert claim.state is ReclaimState.VOID  # what was brought back is not taken away again
    assert not await is_suspended(kube)
    assert not await dues(yard)


async def test_a_claim_that_lost_its_place_before_its_time_keeps_its_time(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    claim = await asked(yard, kube)
    (due,) = await dues(yard)
    async with yard.store.unit() as unit:
        await unit.agenda.delete(due.id)
    await look(yard)
    (again,) = await dues(yard)
    assert again == due
    assert again.at == claim.grace_until


async def test_a_claim_that_cannot_be_settled_does_not_hinder_another(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    old = await due_claim(yard, kube)
    permissions = yard.pipeline.permissions
    yard.pipeline = replace(yard.pipeline, permissions=Permissions(teams=permissions.teams, automation={}))
    await look(yard)
    (entry,) = await failures(yard)
    assert "do not let the automation run gpu settle" in entry.text
    assert f"asked already (claim {old.id}" in await yard.say("gpu free", DANA)
    yard.clock.move(timedelta(hours=1))
    plan = await yard.do("gpu free", DANA)
    assert plan.state is PlanState.DONE, plan.error
    async with yard.store.unit() as unit:
        first, second = await unit.reclaim_requests.find()
    assert (first.id, first.state, first.keep_reason) == (
        old.id,
        ReclaimState.VOID,
        "its owner is asked anew",
    )
    assert (second.state, second.grace_until) == (ReclaimState.ASKED, NOON + 120 * MINUTE)
