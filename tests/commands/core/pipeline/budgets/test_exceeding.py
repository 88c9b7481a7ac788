"""`plan exceed`: who lets a plan go over its budget, and which plan that replaces."""

from datetime import timedelta

from commands.execution.plan import PlanState, Risk
from commands.models import AuditEntry
from tests.commands.core.pipeline.budgets.conftest import ELI, NODES, cordon, held_back
from tests.support.yard import Yard


async def test_going_over_takes_a_reason_and_a_second_person_and_ends_the_waiting_plan(yard: Yard) -> None:
    waiting = await held_back(yard, f"node cordon {NODES[5]}")
    form = await yard.answer(f"plan exceed {waiting.id}")
    assert form is not None
    assert form.form is not None, "the reason is asked for in a form"

    shown = await yard.say(f'plan exceed {waiting.id} --reason "it loses data"')
    assert "It goes over its budget: it loses data" in shown
    assert "A second person has to confirm it: it goes over a budget." in shown
    over = await yard.newest()
    assert over is not None
    assert (over.risk, over.line, over.command) == (Risk.BREAK, waiting.line, waiting.command)
    assert "someone else has to confirm" in await yard.say(f"plan confirm {over.id} --hash {over.hash}")
    assert "is not the plan you were shown" in await yard.say(
        f"plan confirm {over.id} --hash {waiting.hash}", ELI
    )
    assert (await yard.stored(waiting.id)).state is PlanState.WAITING
    done = await yard.executor.execute(await yard.confirmed(over, ELI))
    assert done.state is PlanState.DONE
    replaced = await yard.stored(waiting.id)
    assert (replaced.state, str(replaced.error)) == (PlanState.CANCELLED, f"replaced by {over.id}")
    assert (await yard.executor.execute(replaced)).state is PlanState.CANCELLED
    async with yard.store.unit() as unit:
        entries = await unit.rows(AuditEntry).find(plan=over.id)
    assert [entry.what for entry in entries] == ["refused", "confirmed", "done"]


async def test_a_proposal_that_would_wait_goes_over_at_once_but_not_when_it_is_late(yard: Yard) -> None:
    await cordon(yard, *NODES[:5])
    late = await yard.plan(f"node cordon {NODES[5]}")
    yard.clock.move(yard.pipeline.defaults.plan_expires + timedelta(seconds=1))
    assert "has expired" in await yard.say(f"plan exceed {late.id} --reason urgent")
    fresh = await yard.plan(f"node cordon {NODES[5]}")
    await yard.say(f"plan exceed {fresh.id} --reason urgent")
    over = await yard.newest()
    assert over is not None
    assert over.replaces == fresh.id
    assert (await yard.executor.execute(await yard.confirmed(over, ELI))).state is PlanState.DONE


async def test_nothing_goes_over_a_budget_that_holds_nothing_back(yard: Yard) -> None:
    plan = await yard.plan(f"node cordon {NODES[0]}")
    assert "Nothing holds plan" in await yard.say(f"plan exceed {plan.id} --reason now")
