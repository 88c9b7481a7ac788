"""A cluster whose API server falls silent, in virtual time: people read it within 1.2 times what the settings say."""

import asyncio
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from alerts.lifecycle import AlertState
from alerts.routing import CardRouting
from bot.evaluation.evaluator import Evaluator, RuleSources
from bot.evaluation.recorder import IncidentRecorder
from bot.evaluation.rulebook import read_rulebook
from bot.evaluation.scheduler import RuleScheduler
from bot.live_cluster import LiveCluster
from bot.metrics import Metrics
from bot.settings.schema import RulesSettings
from bot.settings.source_options import reflector_timing
from bot.settings.source_settings import KubernetesSettings
from collectors.check_catalogue import CHECKS
from collectors.cluster.cache import ClusterCache
from collectors.cluster.kinds import NODES, PODS
from collectors.sources.kubernetes.source import KubernetesSource
from tests.support import memory_api
from tests.support.alerting import CLUSTER, NOON, a_renderer
from tests.support.memory_api import MemoryApi
from tests.support.memory_store import MemoryStore
from tests.support.routing import a_router

RULE = "YardmasterSourceBlind"


@pytest.mark.looptime
@pytest.mark.parametrize("begins", [100, 104, 108, 112])  # rules are evaluated each 15 s
async def test_silence_is_announced_in_time(looptime: Any, begins: int) -> None:
    loop, api, store = asyncio.get_running_loop(), MemoryApi(), MemoryStore()
    clock: Any = SimpleNamespace(
        now=lambda: NOON + timedelta(seconds=loop.time()), elapsed=lambda: timedelta(seconds=loop.time())
    )
    setting = KubernetesSettings().stale_after
    rules = tuple(rule for rule in read_rulebook(RulesSettings()).rules if rule.name == RULE)
    cache = ClusterCache(
        KubernetesSource(api),
        clock=clock,
        kinds=(NODES, PODS),
        stale_after=setting,
        timing=reflector_timing(setting),
    )
    cluster = LiveCluster(CLUSTER, clock=clock, cache=cache)
    router = a_router(checks=CHECKS, check_input=cluster.check_input)
    scheduler = RuleScheduler(CLUSTER, rules, router, a_renderer())
    recorder = IncidentRecorder(CLUSTER, store, CardRouting(default="C1"))
    sources = RuleSources(shipped=rules)
    evaluator = Evaluator(cluster, scheduler, recorder, router, rules=sources, clock=clock, metrics=Metrics())
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(cache.run()), group.create_task(evaluator.run())]
        for _ in range(begins):
            api.put(memory_api.PODS, "one")
            api.put(memory_api.NODES, "one")
            await asyncio.sleep(1)
        api.fall_silent(True)
        assert "kubernetes" not in evaluator.blind
        while "kubernetes" not in evaluator.blind:  # noqa: ASYNC110 - in virtual time
            await asyncio.sleep(0.1)
        assert loop.time() - api.last_sent <= 1.2 * setting.total_seconds()
        while not scheduler.counts()[AlertState.FIRING.value]:  # noqa: ASYNC110 - in virtual time
            await asyncio.sleep(0.1)
        with_for = rules[0].timing.for_ + setting
        assert loop.time() - api.last_sent <= 1.2 * with_for.total_seconds()
        for task in tasks:
            task.cancel()
