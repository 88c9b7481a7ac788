"""Remediations, live and in a trial: what they do, and what the card says."""

from dataclasses import replace
from typing import Any

import pytest

from alerts.cards.posted import CardKind, PostedCard
from alerts.incidents.incident import Incident
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext
from bot.cards.remediation_cards import remediation_message
from commands.core.pipeline import Pipeline
from commands.core.request import Request
from commands.execution.plan import Plan, PlanState
from commands.execution.plan_card import card_of
from commands.gates.remediation import Remediation, RemediationState
from commands.models import AuditEntry, CordonLease
from tests.bot.jobs.remediator.conftest import NODES, Stage
from tests.support.rows import a_card, a_lease
from tests.support.yard import CLUSTER, text_of


async def test_a_trial_says_what_it_would_have_done_and_under_which_budget(trial: Stage) -> None:
    await trial.fire(NODES[0])
    await trial.look()
    (one,) = await trial.all()
    assert one.state is RemediationState.TRIAL
    shown = text_of(remediation_message(one))
    assert f"Trial: Cordon {NODES[0]} would have been done" in shown
    assert f"Why: {NODES[0]} is almost out of memory." in shown
    assert "Budget of pool a: 0 of 1 node out of service" in shown
    assert f"[Cordon {NODES[0]}…] node cordon {NODES[0]}" in shown
    async with trial.yard.store.unit() as unit:
        assert not await unit.rows(Plan).find()
        assert [entry.what for entry in await unit.rows(AuditEntry).find()] == ["trial"]
        assert [card.kind for card in await unit.rows(PostedCard).find()] == [CardKind.REMEDIATION]
    await trial.look(minutes=5)
    assert len(await trial.all()) == 1, "once for each firing"


async def offered(stage: Stage) -> set[str]:
    """Return what the card of the only remediation suggests now."""
    (one,) = await stage.all()
    context = CardContext(rules=dict, training=lambda *_: None, blind=lambda *_: {})
    async with stage.yard.store.read() as snapshot:
        card = a_card(one.id, kind=CardKind.REMEDIATION)
        composed = await CardCatalogue(context).compose(card, snapshot, stage.yard.clock.now())
    assert composed.message is not None
    assert composed.is_final == (not composed.message.offered)
    return set(composed.message.offered)


async def test_a_trial_offers_a_cordon_until_the_node_is_cordoned_or_its_incident_is_over(
    trial: Stage,
) -> None:
    await trial.fire(NODES[0])
    await trial.look()
    (one,) = await trial.all()
    assert await offered(trial) == {one.line}
    lease = a_lease(trial.yard.clock.now(), NODES[0], id=f"{CLUSTER}/{NODES[0]}", cluster=CLUSTER)
    async with trial.yard.store.unit() as unit:
        await unit.rows(CordonLease).put(lease)
    assert await offered(trial) == set()
    async with trial.yard.store.unit() as unit:
        await unit.rows(CordonLease).delete(lease.id)
        incident = await unit.rows(Incident).get(one.incident)
        assert incident is not None
        await unit.rows(Incident).put(replace(incident, resolved_at=trial.yard.clock.now()))
    assert await offered(trial) == set()


@pytest.mark.parametrize("state", [PlanState.DONE, PlanState.FAILED])
async def test_a_trial_offers_nothing_that_was_done_for_its_incident(trial: Stage, state: PlanState) -> None:
    """A command other than `node cordon`, of which no lease tells."""
    await trial.fire(NODES[0])
    await trial.look()
    (one,) = await trial.all()
    now = trial.yard.clock.now()
    plan = await trial.yard.plan(one.line)
    origin = replace(plan.origin, incident=one.incident)
    plan = replace(plan, command="pod clean", origin=origin, confirmed_at=now, state=state)
    async with trial.yard.store.unit() as unit:
        await unit.rows(Remediation).put(replace(one, command="pod clean"))
        await unit.rows(Plan).put(plan)
    assert await offered(trial) == (set() if state is PlanState.DONE else {one.line})


async def test_live_cordons_once_and_its_card_says_why_under_which_budget_with_undo(live: Stage) -> None:
    await live.fire(NODES[0])
    await live.look()
    await live.look(minutes=1)
    (one,) = await live.all()
    async with live.yard.store.unit() as unit:
        (plan,) = await unit.rows(Plan).find()
    assert (one.state, one.plan, plan.state) == (RemediationState.RUN, plan.id, PlanState.DONE)
    shown = text_of(card_of(plan, await live.yard.records(plan)))
    assert f"Why: {NODES[0]} is almost out of memory." in shown
    assert "Budget of pool a: 0 of 1 node out of service" in shown
    assert f"[Undo] plan undo {plan.id}" in shown
    assert "remediation of NodeMemoryHot" in shown


async def test_it_is_planned_once_and_its_plan_is_stored_with_it_or_not_at_all(
    live: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned: list[str] = []
    sketch = Pipeline.sketch

    async def counted(self: Pipeline, request: Request, cluster: str) -> Any:
        planned.append(request.line)
        return await sketch(self, request, cluster)

    async def killed(_unit: Any, *_: Any, **__: Any) -> None:
        raise ProcessLookupError

    monkeypatch.setattr(Pipeline, "sketch", counted)
    await live.fire(NODES[0])
    with monkeypatch.context() as patched:
        patched.setattr("commands.core.remediation_judge.record_confirmation", killed)
        with pytest.raises(ProcessLookupError):
            await live.remediator.look(CLUSTER)
    assert await live.all() == [], "killed before the commit, nothing is known of it"
    async with live.yard.store.unit() as unit:
        assert not await unit.rows(Plan).find()
    planned.clear()
    await live.remediator.look(CLUSTER)
    (one,) = await live.all()
    async with live.yard.store.unit() as unit:
        (plan,) = await unit.rows(Plan).find()
    assert (one.state, one.plan, plan.state) == (RemediationState.RUN, plan.id, PlanState.CONFIRMED)
    await live.look()
    assert planned == ["node cordon gpu-a01 --reason hot"]
    assert len(await live.all()) == 1
