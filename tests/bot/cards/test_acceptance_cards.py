"""The card of an acceptance: one card, edited from the first test to the verdict, and what it suggests."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from alerts.cards.message import Color
from alerts.cards.posted import CardKind
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext, Composed
from collectors.acceptance.readings import MeasuredFigure, NextStep, PartReport, PartState
from commands.acceptance.acceptance import Acceptance, AcceptanceState, Shortfall
from commands.execution.plan import PlanState
from tests.support.execution import plan_of
from tests.support.memory_store import MemoryStore
from tests.support.rows import NOON, a_card, a_job_run, an_acceptance
from tests.support.yard import text_of

CONTEXT = CardContext(rules=dict, training=lambda *_: None, blind=lambda *_: {})
PLAN = replace(
    plan_of(),
    title="Test gpu-a04 with suite yardmaster",
    command="node accept",
    state=PlanState.DONE,
    ended_at=NOON,
)
BROKEN = PartReport(part="memory", gpu=3, outcome=PartState.FAILED, said="a DBE", next_step=NextStep.REPLACE)


async def composed(*rows: Any) -> Composed:
    store = MemoryStore()
    async with store.unit() as unit:
        for row in rows:
            await unit.rows(type(row)).put(row)
    async with store.read() as snapshot:
        card = a_card(PLAN.id, kind=CardKind.PLAN)
        return await CardCatalogue(CONTEXT).compose(card, snapshot, NOON)


def over(state: AcceptanceState, **changes: Any) -> Acceptance:
    return an_acceptance(plan=PLAN.id, state=state, ended_at=NOON, **changes)


async def card_text(*rows: Any) -> str:
    made = await composed(*rows)
    assert made.message is not None
    return text_of(made.message)


async def test_while_the_tests_run_the_card_shows_their_last_lines() -> None:
    running = replace(PLAN, state=PlanState.RUNNING, ended_at=None)
    said = await card_text(running, an_acceptance(plan=PLAN.id), a_job_run(plan=PLAN.id, log="GPU 3 of 8"))
    assert "GPU 3 of 8" in said
    assert "Stop after this step" in said


async def test_a_plan_that_ended_waits_for_its_verdict() -> None:
    made = await composed(PLAN, an_acceptance(plan=PLAN.id))
    assert not made.is_final


async def test_a_pass_says_with_how_many_it_was_compared_and_offers_the_way_back() -> None:
    one = over(AcceptanceState.ACCEPTED, compared=12, watched_until=NOON + timedelta(hours=1))
    made = await composed(PLAN, one, a_job_run(plan=PLAN.id, log='{"printed": 1}'))
    assert made.message is not None
    said = text_of(made.message)
    assert said.startswith("gpu-a04 is accepted: compared with 12 other nodes of its model.")
    assert said.count("is accepted") == 1
    assert "[Uncordon gpu-a04] node uncordon gpu-a04" in said
    assert "printed" not in said  # what the tools print is read, and not shown
    assert made.message.color is Color.GOOD


async def test_a_node_that_has_returned_is_not_offered_to_be_uncordoned() -> None:
    assert "uncordon" not in await card_text(PLAN, over(AcceptanceState.ACCEPTED, returned_at=NOON))


async def test_the_first_node_of_a_model_is_said_to_be_the_first() -> None:
    said = await card_text(PLAN, over(AcceptanceState.ACCEPTED))
    assert "It is the first node with NVIDIA-H100: there is nothing to compare its figures with." in said


async def test_a_fail_names_the_part_and_the_next_step() -> None:
    one = over(AcceptanceState.FAILED, findings=(BROKEN,), reasons=("memory of GPU 3: a DBE",))
    said = await card_text(PLAN, one)
    assert said.startswith("gpu-a04 failed: memory of GPU 3: a DBE.")
    assert "Next: have the part replaced by the vendor, with the evidence of this node." in said
    assert "[Test again] node accept gpu-a04 --suite yardmaster" in said


async def test_a_slow_gpu_is_the_first_row_of_the_figures() -> None:
    figures = tuple(
        MeasuredFigure(name="memory copy", unit="GB/s", value=1102 if gpu == 3 else 1340, gpu=gpu)
        for gpu in range(8)
    )
    short = Shortfall(name="memory copy", unit="GB/s", value=1102, median=1310, gpu=3)
    one = over(AcceptanceState.SLOW, figures=figures, slow=(short,), reasons=("GPU 3: slow",), compared=9)
    lines = (await card_text(PLAN, one)).splitlines()
    heading = lines.index("part | measured | value | slow")
    assert lines[heading + 1] == "GPU 3 | memory copy | 1102 GB/s | 84 % of 1310"
    assert lines[heading + 2] == "GPU 0 | memory copy | 1340 GB/s | "


@pytest.mark.parametrize("state", list(AcceptanceState))
async def test_every_state_has_its_words(state: AcceptanceState) -> None:
    said = await card_text(PLAN, over(state, reasons=("why",)))
    assert said
