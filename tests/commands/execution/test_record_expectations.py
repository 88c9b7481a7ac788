"""A Record step may say what its row still has to be: then a plan starts, and is undone, only where it still is."""

from dataclasses import replace
from typing import Any

import pytest

from collectors.facts.clock import SystemClock
from commands.core.command import UnusableError
from commands.core.confirmation import ProposalTimes, record_confirmation
from commands.core.request import Actor
from commands.execution.plan import Plan, PlanState
from commands.execution.record_steps import changed_after, changed_before, record
from commands.execution.steps import Record
from commands.models import CordonLease
from tests.support.alerting import NOON
from tests.support.execution import plan_of
from tests.support.memory_store import MemoryStore
from tests.support.rows import a_lease

DANA = Actor(id="U_DANA", name="dana")
LEASE = a_lease(NOON)
OURS = replace(LEASE, reason="too hot")
OTHERS = replace(LEASE, owner="U_ANA")


def a_step(*, expects: str = "lease of gpu-a01") -> Record:
    return record("leases", OURS, text="renew", before=LEASE, expects=expects)


async def holding(*rows: Any) -> MemoryStore:
    store = MemoryStore()
    async with store.unit() as unit:
        for row in rows:
            await unit.rows(type(row)).put(row)
    return store


async def confirmed(store: MemoryStore, step: Record) -> Plan | None:
    plan = replace(plan_of(step), state=PlanState.PROPOSED)
    async with store.unit() as unit:
        await record_confirmation(unit, plan, by=DANA, clock=SystemClock(), times=ProposalTimes())
    async with store.read() as snapshot:
        return await snapshot.rows(Plan).get(plan.id)


async def test_a_plan_whose_row_changed_meanwhile_does_not_start() -> None:
    store = await holding(OTHERS)
    with pytest.raises(UnusableError, match="The lease of gpu-a01 is changed by now: nothing was done"):
        await confirmed(store, a_step())
    async with store.read() as snapshot:
        assert not await snapshot.rows(Plan).find()


@pytest.mark.parametrize("rows", [[LEASE], []], ids=["it still is", "it is gone"])
async def test_a_plan_whose_row_is_as_expected_starts(rows: list[CordonLease]) -> None:
    plan = await confirmed(await holding(*rows), a_step())
    assert plan is not None
    assert plan.state is PlanState.CONFIRMED


async def test_a_step_that_expects_nothing_starts_whatever_its_row_is() -> None:
    assert await confirmed(await holding(OTHERS), a_step(expects="")) is not None


async def test_a_row_that_changed_after_the_step_is_found() -> None:
    for row, change in ((OURS, ""), (OTHERS, "changed"), (LEASE, "changed")):
        async with (await holding(row)).read() as snapshot:
            assert await changed_after(snapshot, a_step()) == change


async def test_a_row_of_before_a_field_was_added_is_still_the_same() -> None:
    step = a_step()
    assert step.before is not None
    del step.before["reminded_at"]
    async with (await holding(LEASE)).read() as snapshot:
        assert await changed_before(snapshot, [step]) == ""


def test_the_inverse_expects_the_same_row() -> None:
    inverse = a_step().inverse("")
    assert inverse is not None
    assert (inverse.expects, inverse.row, inverse.before) == (
        "lease of gpu-a01",
        a_step().before,
        a_step().row,
    )
