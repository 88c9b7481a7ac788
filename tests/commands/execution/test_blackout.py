"""A write whose response and every later one is lost: nobody knows whether it landed, until the cluster answers."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.jobs.unknown_steps import UnknownSteps
from collectors.facts.results import SourceError
from collectors.internal_errors import InternalErrors
from commands.core.cordoned_nodes import BY
from commands.execution.plan import Plan, PlanState
from commands.execution.plan_card import card_of
from commands.execution.step_outcomes import Unknown
from commands.execution.steps import Patch
from commands.models import AuditEntry, CordonLease
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.blackout import blackout
from tests.support.execution import executor
from tests.support.yard import Yard, lookalike_with, text_of, yard_before

NODE, OTHER = "gpu-a01", "gpu-a02"


@pytest.fixture
async def kube() -> AsyncIterator[KubernetesLookalike]:
    async with lookalike_with(NODE, OTHER) as kube:
        yield kube


@pytest.fixture
async def yard(kube: KubernetesLookalike, tmp_path: Path) -> AsyncIterator[Yard]:
    async with yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard:
        yield yard


async def test_a_cordon_that_landed_in_a_blackout_can_be_undone(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    plan = await yard.confirmed(await yard.plan(f"node cordon {NODE} {OTHER}"))
    with blackout(lands=True):
        over = await executor(yard.store, yard.writer).execute(plan)
    assert over.state is PlanState.FAILED
    states = [record.state.value for record in await yard.records(over)]
    assert states == ["unknown", "waiting", "skipped", "skipped"]
    node = kube.get("nodes", "", NODE)
    assert node is not None
    assert BY in node["metadata"]["annotations"]

    undone = await yard.do(f"plan undo {plan.id}")

    assert undone.state is PlanState.DONE
    for name in (NODE, OTHER):
        node = kube.get("nodes", "", name)
        assert node is not None
        assert not node["spec"].get("unschedulable")
        assert BY not in node["metadata"].get("annotations", {})
    async with yard.store.unit() as unit:
        assert not await unit.rows(CordonLease).find()


async def cut_off(yard: Yard, line: str, *, lands: bool) -> Plan:
    """Run a plan into a blackout, and return it as it ended."""
    plan = await yard.confirmed(await yard.plan(line))
    with blackout(lands=lands):
        return await executor(yard.store, yard.writer).execute(plan)


def looking(yard: Yard) -> UnknownSteps:
    return UnknownSteps(
        yard.store,
        executor(yard.store, yard.writer),
        yard.clock,
        errors=InternalErrors(),
        pauses=(0.01, 0.02),
    )


@pytest.mark.parametrize("lands", [True, False], ids=["landed", "did not land"])
async def test_once_the_cluster_answers_the_plan_and_its_lease_are_as_the_node_is(
    yard: Yard, kube: KubernetesLookalike, lands: bool
) -> None:
    over = await cut_off(yard, f"node cordon {NODE}", lands=lands)
    assert "It is not known whether this step was done" in over.error

    assert await looking(yard).check() == 0

    async with yard.store.unit() as unit:
        plan, leases = await unit.rows(Plan).get(over.id), await unit.rows(CordonLease).find()
        audited = [entry.what for entry in await unit.rows(AuditEntry).find(plan=over.id)]
    assert plan is not None
    assert plan.state is (PlanState.DONE if lands else PlanState.FAILED)
    assert [lease.node for lease in leases] == ([NODE] if lands else [])
    assert audited[-1] == plan.state.value
    assert "not known" not in plan.error


async def test_the_card_says_that_it_is_not_known_and_what_happens_next(yard: Yard) -> None:
    over = await cut_off(yard, f"node cordon {NODE}", lands=True)
    card = text_of(card_of(over, await yard.records(over)))
    assert "not known whether it was done" in card
    assert "Yardmaster looks again once the cluster answers" in card
    assert f"[Undo] plan undo {over.id}" in card

    await looking(yard).check()
    plan = await yard.stored(over.id)
    card = text_of(card_of(plan, await yard.records(plan)))
    assert "a later check showed that it was done" in card
    assert "not known" not in card


async def test_while_the_cluster_is_dark_the_step_stays_unknown_and_is_looked_at_again(yard: Yard) -> None:
    over = await cut_off(yard, f"node cordon {NODE}", lands=True)
    with blackout(lands=True):
        with pytest.raises(SourceError):
            await yard.writer.patch(over.steps[0].ref, {})  # type: ignore[union-attr]
        assert await looking(yard).check() == 1
        assert "The cluster cannot be read" in await yard.say(f"plan undo {over.id}")
    assert (await yard.records(over))[0].state.value == "unknown"
    assert await looking(yard).check() == 0


async def test_after_a_day_only_an_undo_looks_again(yard: Yard) -> None:
    over = await cut_off(yard, f"node cordon {NODE}", lands=True)
    yard.clock.move(timedelta(days=2))
    await looking(yard).check()
    assert (await yard.records(over))[0].state.value == "unknown"
    assert (await yard.do(f"plan undo {over.id}")).state is PlanState.DONE


async def test_a_step_that_nobody_can_look_at_is_not_undone_and_the_answer_says_so(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = await cut_off(yard, f"node cordon {NODE}", lands=True)

    async def unseen(*_: Any) -> Unknown:
        return Unknown(reason="Yardmaster may not read it")

    monkeypatch.setattr(Patch, "observe", unseen)
    answer = await yard.say(f"plan undo {over.id}")
    assert (
        "cannot be undone: it is not known whether this was done, and Yardmaster cannot see it: cordon"
        in answer
    )
    assert await looking(yard).check() == 1


async def test_a_plan_that_still_runs_is_not_settled(yard: Yard) -> None:
    over = await cut_off(yard, f"node cordon {NODE}", lands=True)
    running = replace(over, state=PlanState.RUNNING, ended_at=None)
    async with yard.store.unit() as unit:
        await unit.rows(Plan).put(running)
    assert await looking(yard).check() == 1
    async with yard.store.unit() as unit:
        assert await unit.rows(Plan).get(over.id) == running
    assert (await yard.records(running))[0].state.value == "unknown"
