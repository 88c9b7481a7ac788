"""A yard whose alerts a test fires, with the remediator before it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from alerts.alert import Alert
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from alerts.lifecycle import AlertLife, AlertState
from alerts.rules import AlertTemplate, Rule
from bot.jobs.remediator import Remediator
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.subjects import Subject
from collectors.facts.topology import Topology
from commands.core.budget_pictures import Pool
from commands.core.budgets import Budgets
from commands.core.grant import Grant
from commands.core.permissions import Permissions
from commands.core.remediation_judge import RemediationJudge
from commands.core.remediations import RemediationGate
from commands.core.windows import WindowGate
from commands.execution.executor import PlanExecutor
from commands.execution.plan import Plan, PlanState
from commands.gates.breaker import BreakerLimits
from commands.gates.remediation import Allowance, Remediation
from commands.gates.window import PlannedWindow
from tests.support.grouping import add_alert
from tests.support.yard import CLUSTER, Yard, lookalike_with, yard_before

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
