"""Gates of a remediation: it is held back, and goes on."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from alerts.silences import Silence
from alerts.time_intervals import TimeInterval, read_period
from bot.jobs.remediator import Remediator
from commands.core.context import Defaults
from commands.core.node_script import NodeJobDefaults
from commands.gates.remediation import Allowance, RemediationState
from commands.gates.window import InWindow, PlannedWindow
from tests.bot.jobs.remediator.conftest import NODES, Stage, a_stage
from tests.support.yard import CLUSTER


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


async def test_what_is_held_is_listed_with_what_it_waits_for(live: Stage) -> None:
    assert "No action of a rule waits." in await live.yard.say("remediation list")
    live.blind["prometheus"] = "timed out"
    await live.fire(NODES[0])
    await live.look()
    shown = await live.yard.say("remediation list")
    assert "1 remediation waits" in shown
    assert "held | prometheus cannot be seen: timed out" in shown
    live.blind.clear()
    await live.look(minutes=1)
    assert "No action of a rule waits" in await live.yard.say("remediation list")
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
