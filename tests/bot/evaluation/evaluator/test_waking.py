"""A change of a node is evaluated soon; heartbeats and storms do not make more cycles."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from alerts.rules import Rule
from bot.evaluation.evaluator import Evaluator, RuleSources
from bot.evaluation.node_alarm import CHANGE_PACE
from bot.evaluation.recorder import CardRouting, IncidentRecorder
from bot.evaluation.scheduler import RuleScheduler
from bot.live_cluster import SNAPSHOT_EVERY
from bot.metrics import Metrics
from bot.store.memory_store import MemoryStore
from collectors.checks.check import CheckInput, ClusterCheck, SourceState
from collectors.cluster.cache import ObjectChange
from collectors.facts.queries import CheckQuery
from collectors.facts.results import Blind, Sample
from tests.support.alerting import CLUSTER, NOON, a_renderer, a_rule, a_topology
from tests.support.objects import node
from tests.support.routing import a_router

pytestmark = pytest.mark.looptime


@dataclass
class Changing:
    """A cluster's cache, and when a check looked at it."""

    looks: list[float] = field(default_factory=list)
    callbacks: list[Callable[[ObjectChange], None]] = field(default_factory=list)

    def status(self) -> tuple[()]:
        return ()

    async def synced(self, timeout: timedelta) -> None:
        """It is at once."""

    def subscribe(self, callback: Callable[[ObjectChange], None]) -> Callable[[], None]:
        self.callbacks.append(callback)
        return lambda: self.callbacks.remove(callback)

    def change(self, kind: str, before: object, after: object) -> None:
        for callback in self.callbacks:
            callback(ObjectChange(kind=kind, key="n1", before=before, after=after, at=NOON))

    def check(self, _inputs: CheckInput, _parameters: object) -> Sequence[Sample]:
        self.looks.append(asyncio.get_running_loop().time())
        return ()


def evaluator(cache: Changing, rule: Rule) -> Evaluator:
    loop = asyncio.get_running_loop()
    clock: Any = SimpleNamespace(
        now=lambda: NOON + timedelta(seconds=loop.time()), elapsed=lambda: timedelta(seconds=loop.time())
    )
    cluster: Any = SimpleNamespace(
        name=CLUSTER, cache=cache, pod_logs=None, topology=a_topology, synced=cache.synced
    )

    def inputs(at: Any, sources: tuple[SourceState, ...]) -> CheckInput:
        blind = Blind(source="kubernetes", at=at, reason="not needed")
        return CheckInput(at=at, inventory=blind, trainings=blind, configs=blind, sources=sources)

    check = ClusterCheck(name="looks", summary="", needs=frozenset(), run=cache.check)
    router = a_router(checks={"looks": check}, check_input=inputs)
    return Evaluator(
        cluster,
        RuleScheduler(CLUSTER, (rule,), router, a_renderer()),
        IncidentRecorder(CLUSTER, MemoryStore(), CardRouting(default="C1")),
        router,
        rules=RuleSources(shipped=(rule,)),
        clock=clock,
        metrics=Metrics(),
    )


async def test_other_rules_are_evaluated_while_changed_nodes_wait_for_the_pace(looptime: Any) -> None:
    cache = Changing()
    rule = replace(a_rule("Looks"), query=CheckQuery(name="looks"), interval=timedelta(seconds=1))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(evaluator(cache, rule).run())
        for _ in range(200):
            cache.change("nodes", None, node("n1"))
            await asyncio.sleep(0.1)
        assert max(later - before for before, later in pairwise(cache.looks)) < 1.01
        task.cancel()


async def test_checks_are_evaluated_after_a_node_changed(looptime: Any) -> None:
    cache = Changing()
    rule = replace(a_rule("Looks"), query=CheckQuery(name="looks"), interval=timedelta(hours=1))
    ready, not_ready = node("n1"), node("n1", status={"conditions": [{"type": "Ready", "status": "Unknown"}]})
    async with asyncio.TaskGroup() as group:
        task = group.create_task(evaluator(cache, rule).run())
        await asyncio.sleep(60)
        assert len(cache.looks) == 1
        cache.change("pods", None, None)
        cache.change("nodes", ready, node("n1", resourceVersion="2"))  # a heartbeat
        await asyncio.sleep(60)
        assert len(cache.looks) == 1
        cache.change("nodes", ready, not_ready)
        await asyncio.sleep(SNAPSHOT_EVERY + 0.1)
        assert len(cache.looks) == 2
        await asyncio.sleep(60)
        for _ in range(100):
            cache.change("nodes", ready, not_ready)
            await asyncio.sleep(0.1)
        assert len(cache.looks) <= 2 + 1 + 10 / CHANGE_PACE
        task.cancel()
    assert cache.callbacks == []
