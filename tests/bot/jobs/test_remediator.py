"""Remediations: trial and live, the gates that hold them back, and the breaker."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from alerts.alert import Alert
from alerts.cards.posted import CardKind, PostedCard
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from alerts.lifecycle import AlertLife, AlertState
from alerts.rules import AlertTemplate, Rule
from alerts.silences import Silence
from alerts.time_intervals import TimeInterval, read_period
from bot.cards.remediation_cards import remediation_message
from bot.jobs.remediator import Remediator
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.subjects import Subject
from collectors.facts.topology import Topology
from commands.core.budget_pictures import Pool
from commands.core.budgets import Budgets
from commands.core.context import Defaults
from commands.core.grant import Grant
from commands.core.node_script import NodeJobDefaults
from commands.core.permissions import Permissions
from commands.core.pipeline import Pipeline
from commands.core.remediation_judge import RemediationJudge
from commands.core.remediations import RemediationGate
from commands.core.request import Request
from commands.core.windows import WindowGate
from commands.execution.executor import PlanExecutor
from commands.execution.plan import Plan, PlanState
from commands.execution.preview import card_of
from commands.gates.breaker import Breaker, BreakerLimits
from commands.gates.remediation import Allowance, Remediation, RemediationState
from commands.gates.window import InWindow, PlannedWindow
from commands.models import AuditEntry
from tests.support.grouping import add_alert
from tests.support.yard import CLUSTER, Yard, lookalike_with, text_of, yard_before

NODES = ("gpu-a01", "gpu-a02", "gpu-a03")
DEFAULT_LIMITS = BreakerLimits()
LIVE = Allowance(rules=("NodeMemoryHot",))
PERMISSIONS = Permissions(
    teams={"sre": Grant(commands=("*",))}, automation={"remediation": Grant(commands=("node *",))}
)


def a_rule(name: str = "NodeMemoryHot", **changes: Any) -> Rule:
    template = AlertTemplate(remediation="node cordon {node} --reason hot", **changes)
    return Rule(id=f"node/memory/{name}", name=name, query=PromQLQuery(expr="up"), template=template)


@dataclass
class Stage:
    """A yard whose alerts a test fires, with the remediator before it."""

    yard: Yard
    remediator: Remediator
    rules: dict[str, Rule]
    blind: dict[str, str] = field(default_factory=dict)
    windows: list[PlannedWindow] = field(default_factory=list)

    async def fire(self, node: str, rule: str = "NodeMemoryHot") -> None:
        subject = Subject(cluster=CLUSTER, node=node)
        now = self.yard.clock.now()
        alert = Alert(
            cluster=CLUSTER,
            rule=f"node/memory/{rule}",
            labels=Labels({"alertname": rule, "node": node, "severity": "warning"}),
            own_subject=subject,
            subject=subject,
            life=AlertLife(state=AlertState.FIRING, since=now, fired_at=now),
            value=0.97,
            annotations={"summary": f"{node} is almost out of memory."},
        )
        await self._put(alert)

    async def resolve(self, node: str, rule: str = "NodeMemoryHot") -> None:
        async with self.yard.store.unit() as unit:
            alerts = await unit.rows(Alert).find(cluster=CLUSTER, state=AlertState.FIRING)
        for alert in alerts:
            if alert.subject.node == node and alert.name == rule:
                life = replace(alert.life, state=AlertState.RESOLVED, resolved_at=self.yard.clock.now())
                await self._put(replace(alert, life=life))

    async def _put(self, alert: Alert) -> None:
        now = self.yard.clock.now()
        grouping = GroupingContext(rules=self.rules, topology=Topology(cluster=CLUSTER))
        async with self.yard.store.unit() as unit:
            id = f"i{alert.subject.node}"
            incident = await unit.rows(Incident).get(id) or open_incident(id, alert, channels=("C",), now=now)
            await unit.rows(Incident).put(add_alert(incident, alert, grouping, now))
            await unit.rows(Alert).put(alert)

    async def look(self, **time: float) -> None:
        """Let time pass, look, and run what is to be run."""
        self.yard.clock.move(timedelta(**time))
        await self.remediator.look(CLUSTER)
        async with self.yard.store.unit() as unit:
            plans = await unit.rows(Plan).find(state=(PlanState.CONFIRMED.value, PlanState.WAITING.value))
        for plan in plans:
            await self.yard.executor.execute(plan)

    async def all(self) -> list[Remediation]:
        async with self.yard.store.unit() as unit:
            return list(await unit.rows(Remediation).find(cluster=CLUSTER))

    async def states(self) -> list[tuple[str, str]]:
        return [(one.node, one.state.value) for one in await self.all()]

    async def out(self, node: str, *, out: bool = True) -> None:
        await self.yard.seen(
            lambda: bool(self.yard.cluster.inventory().nodes[node].spec.unschedulable) is out
        )


@asynccontextmanager
async def a_stage(
    folder: Path,
    *,
    allowance: Allowance = LIVE,
    limits: BreakerLimits = DEFAULT_LIMITS,
    **rule: Any,
) -> AsyncIterator[Stage]:
    rules = {one.id: one for one in (a_rule(**rule),)}
    blind: dict[str, str] = {}
    open_windows: list[PlannedWindow] = []
    async with (
        lookalike_with(*NODES) as kube,
        yard_before(kube.kubeconfig(folder / "kubeconfig"), permissions=PERMISSIONS) as yard,
    ):
        windows = WindowGate(windows=open_windows, clock=yard.clock)
        budgets = Budgets(
            clusters={CLUSTER: yard.cluster},
            clock=yard.clock,
            pools={"a": Pool()},
            of_automation=windows.of_automation,
        )
        gate = RemediationGate(rules=lambda: rules, blind=lambda _cluster, _queries: blind, limits=limits)
        yard.pipeline = replace(yard.pipeline, budgets=budgets, gates=(windows, gate))
        yard.executor = PlanExecutor(yard.store, {CLUSTER: yard.writer}, yard.clock, gate=yard.pipeline.gate)
        judge = RemediationJudge(
            pipeline=yard.pipeline,
            clock=yard.clock,
            gate=gate,
            budgets=budgets,
            windows=windows,
            allowance=allowance,
        )
        remediator = Remediator(yard.store, judge, channel="C", rules=lambda: rules)
        yield Stage(yard=yard, remediator=remediator, rules=rules, blind=blind, windows=open_windows)


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_stage(tmp_path, limits=BreakerLimits(without_effect=2)) as stage:
        yield stage


@pytest.fixture
async def trial(tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_stage(tmp_path, allowance=Allowance()) as stage:
        yield stage


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


async def test_over_its_budget_it_waits_as_long_as_the_alert_fires(live: Stage) -> None:
    for node in NODES[:2]:
        await live.fire(node)
    await live.look()
    assert await live.states() == [(NODES[0], "run"), (NODES[1], "held")]
    assert "1 of 1 node out of service" in (await live.all())[1].reason
    await live.resolve(NODES[1])
    await live.look(minutes=5)
    assert await live.states() == [(NODES[0], "run"), (NODES[1], "passed")]


@pytest.mark.parametrize("held_by", ["blind", "window", "silence"])
async def test_what_holds_it_back_is_said_and_lets_it_go_later(live: Stage, held_by: str) -> None:
    night = TimeInterval(name="freeze", periods=(read_period(times=[("11:00", "13:00")]),))
    async with live.yard.store.unit() as unit:
        if held_by == "silence":
            await unit.rows(Silence).put(_silence(live))
    if held_by == "blind":
        live.blind["prometheus"] = "timed out"
    elif held_by == "window":
        live.windows.append(PlannedWindow(interval=night, automation=InWindow.WAITS))
    await live.fire(NODES[0])
    await live.look()
    (one,) = await live.all()
    said = {"blind": "prometheus cannot be seen: timed out", "window": "window freeze", "silence": "silenced"}
    assert one.state is RemediationState.HELD
    assert said[held_by] in one.reason
    live.blind.clear()
    await live.look(hours=2)
    assert await live.states() == [(NODES[0], "run")]


def _silence(stage: Stage) -> Silence:
    now = stage.yard.clock.now()
    ends = now + timedelta(hours=1)
    return Silence(
        id="s1", cluster=CLUSTER, matchers=(), starts_at=now, ends_at=ends, by="U1", comment="a test"
    )


async def test_it_wants_a_second_signal_where_the_rule_says_so(tmp_path: Path) -> None:
    async with a_stage(tmp_path, remediation_with=("NodeOOMKill",)) as stage:
        await stage.fire(NODES[0])
        await stage.fire(NODES[1], "NodeOOMKill")
        await stage.look()
        assert await stage.states() == [(NODES[0], "held")], "the second signal is of another node"
        await stage.fire(NODES[0], "NodeOOMKill")
        await stage.look(minutes=1)
        assert await stage.states() == [(NODES[0], "run")]


async def test_a_flapping_sensor_opens_the_breaker_and_nothing_of_the_backlog_runs(live: Stage) -> None:
    for _ in range(4):
        await live.fire(NODES[0])
        await live.look(seconds=5)
        await live.resolve(NODES[0])
        await live.look(minutes=2)
    states = [state for _, state in await live.states()]
    assert states == ["run", "nothing", "nothing", "stopped"]
    async with live.yard.store.unit() as unit:
        (breaker,) = await unit.rows(Breaker).find()
        assert len(await unit.rows(Plan).find()) == 1
    await live.fire(NODES[1])
    await live.look(minutes=1)
    shown = await live.yard.say("breaker list")
    assert "2 actions without effect within an hour" in shown
    assert f"node cordon {NODES[1]} --reason hot" in shown
    assert "--reason" in await live.yard.say(f"breaker close {breaker.id}")
    closed = await live.yard.say(f'breaker close {breaker.id} --reason "a new sensor"')
    assert "What it held back is not done: 2 lines." in closed
    await live.look(minutes=1)
    assert [state for _, state in await live.states()][3:] == ["stopped", "stopped"]
    assert "is closed already" in await live.yard.say(f"breaker close {breaker.id} --reason again")


async def test_a_plan_that_waits_ends_when_the_breaker_opens_or_its_alert_is_over(live: Stage) -> None:
    await live.fire(NODES[0])
    await live.remediator.look(CLUSTER)
    async with live.yard.store.unit() as unit:
        (plan,) = await unit.rows(Plan).find()
    await live.resolve(NODES[0])
    ended = await live.yard.executor.execute(plan)
    assert (ended.state, ended.error) == (PlanState.CANCELLED, "nothing was done: its alert is over")


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


async def test_what_is_held_is_listed_with_what_it_waits_for(live: Stage) -> None:
    assert "Nothing waits that rules do by themselves." in await live.yard.say("remediation list")
    live.blind["prometheus"] = "timed out"
    await live.fire(NODES[0])
    await live.look()
    shown = await live.yard.say("remediation list")
    assert "1 remediation waits" in shown
    assert "held | prometheus cannot be seen: timed out" in shown
    live.blind.clear()
    await live.look(minutes=1)
    assert "Nothing waits" in await live.yard.say("remediation list")
    assert "| live | 2026-11-21 12:00 UTC | run" in await live.yard.say("remediation list --all")


async def test_what_is_held_runs_as_the_settings_say_when_it_goes(tmp_path: Path) -> None:
    """They change with a restart, and an alert may fire for days."""
    async with a_stage(tmp_path) as stage:
        stage.blind["prometheus"] = "timed out"
        await stage.fire(NODES[0])
        await stage.look()
        judge = replace(stage.remediator._judge, allowance=Allowance())
        stage.remediator = Remediator(stage.yard.store, judge, channel="C", rules=lambda: stage.rules)
        stage.blind.clear()
        await stage.look(minutes=1)
        assert await stage.states() == [(NODES[0], "trial")]


async def test_a_source_that_goes_blind_stops_it_before_its_next_stage(live: Stage) -> None:
    await live.fire(NODES[0])
    await live.remediator.look(CLUSTER)
    other = await live.yard.plan(f"node cordon {NODES[1]}")
    async with live.yard.store.unit() as unit:
        (plan,) = await unit.rows(Plan).find(state=PlanState.CONFIRMED.value)
        plan = replace(plan, stages=(*plan.stages, *other.stages))
        await unit.rows(Plan).put(plan)
    executor = PlanExecutor(
        live.yard.store,
        {CLUSTER: live.yard.writer},
        live.yard.clock,
        gate=live.yard.pipeline.gates[1],  # budgets would hold two nodes back
        observe=lambda _kind, _outcome: live.blind.update(prometheus="timed out"),
    )
    ended = await executor.execute(plan)
    assert ended.state is PlanState.CANCELLED
    assert ended.error == ("it was stopped before its next stage: prometheus cannot be seen: timed out")
    await live.out(NODES[0])
    assert not live.yard.cluster.inventory().nodes[NODES[1]].spec.unschedulable


# Minutes, and what fires (+), resolves (-) or is uncordoned by a person (=) then.
RECORDED: Mapping[int, tuple[str, ...]] = {
    0: ("+gpu-a01", "+gpu-a02"),
    5: ("-gpu-a01",),
    20: ("=gpu-a01",),
    22: ("-gpu-a02",),
    35: ("=gpu-a02",),
    40: ("+gpu-a03",),
    45: ("=gpu-a03",),
    50: ("-gpu-a03", "+gpu-a01"),
}


async def _replayed(stage: Stage, cordoned: Mapping[int, tuple[str, ...]]) -> dict[int, tuple[str, ...]]:
    """Play what was recorded. `cordoned`: what the live run cordoned, by minute; return what this run did."""
    done: dict[int, tuple[str, ...]] = {}
    seen = 0
    for minute in range(60):
        for word in RECORDED.get(minute, ()):
            match word[0]:
                case "+":
                    await stage.fire(word[1:])
                case "-":
                    await stage.resolve(word[1:])
                case _:
                    await stage.yard.do(f"node uncordon {word[1:]}")
                    await stage.out(word[1:], out=False)
        await stage.look()
        acted = [one for one in await stage.all() if one.has_acted]
        if len(acted) > seen:
            done[minute] = tuple(one.line for one in acted[seen:])
            seen = len(acted)
        for node in {line.split()[2] for line in (*done.get(minute, ()), *cordoned.get(minute, ()))}:
            if cordoned:
                await stage.yard.do(f"node cordon {node}")
            await stage.out(node)
        stage.yard.clock.move(timedelta(minutes=1))
    return done


async def test_a_trial_fed_with_the_inputs_of_a_live_run_lists_just_what_that_did(tmp_path: Path) -> None:
    (tmp_path / "live").mkdir()
    (tmp_path / "trial").mkdir()
    async with a_stage(tmp_path / "live") as stage:
        lived = await _replayed(stage, {})
    assert lived, "the live run did something"
    assert sum(map(len, lived.values())) >= 3
    async with a_stage(tmp_path / "trial", allowance=Allowance()) as stage:
        assert await _replayed(stage, lived) == lived
        assert {one.is_trial for one in await stage.all()} == {True}


async def repairs_instead(stage: Stage) -> None:
    """Let the rule of the stage repair nodes, which are there to run Jobs."""
    for id, rule in stage.rules.items():
        line = "node repair {node} --with nvidia-uvm"
        stage.rules[id] = replace(rule, template=replace(rule.template, remediation=line))
    jobs = NodeJobDefaults(image="tools:1")
    await stage.yard.writer.create(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": jobs.namespace}}
    )
    pipeline = replace(stage.yard.pipeline, defaults=Defaults(node_jobs=jobs))
    judge = replace(stage.remediator._judge, pipeline=pipeline)
    stage.remediator = Remediator(stage.yard.store, judge, channel="C", rules=lambda: stage.rules)


async def test_a_repair_is_under_the_budget_of_automation_for_as_long_as_it_runs(trial: Stage) -> None:
    await repairs_instead(trial)
    await trial.fire(NODES[0])
    await trial.look()
    await trial.fire(NODES[1])
    await trial.look(seconds=10)
    first, second = await trial.all()
    assert (first.state, first.takes_out) == (RemediationState.TRIAL, False), first.reason
    assert any("0 of 1 node out of service" in figure for figure in first.figures)
    assert second.state is RemediationState.HELD
    assert f"{NODES[0]}: NodeMemoryHot would have worked on it" in second.reason
    await trial.look(minutes=2)
    assert await trial.states() == [(NODES[0], "trial"), (NODES[1], "trial")], "the first is over by then"
    await trial.fire(NODES[2])
    await trial.look(minutes=2)
    (*_, third) = await trial.all()
    assert any("2 of 3 nodes disrupted in the last hour" in figure for figure in third.figures)
