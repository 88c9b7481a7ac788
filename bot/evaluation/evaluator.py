"""This file runs one cluster's evaluation: round after round, each kept before the next begins."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog

from alerts.alert import Alert
from alerts.engine import AlertChange
from alerts.lifecycle import AlertState
from alerts.rules import Rule
from bot.evaluation.recorder import IncidentRecorder
from bot.evaluation.rulebook import read_rule_objects
from bot.evaluation.scheduler import EvaluationCycle, RuleScheduler
from bot.live_cluster import LiveCluster
from bot.metrics import Metrics
from collectors.facts.clock import Clock
from collectors.query_router import QueryRouter

OBJECTS_EVERY = timedelta(seconds=60)  # how often the cluster's PrometheusRule objects are read
CACHE_SYNC_TIMEOUT = timedelta(seconds=15)  # at start, for the first picture of the cluster

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSources:
    """Where a cluster's rules come from: packs and files, and whether its PrometheusRule objects are read, too."""

    shipped: tuple[Rule, ...]
    reads_objects: bool = False


class Evaluator:
    """The owner of one cluster's rounds. `blind`: source -> why it cannot be seen now. `has_begun`: a round is over."""

    def __init__(
        self,
        cluster: LiveCluster,
        scheduler: RuleScheduler,
        recorder: IncidentRecorder,
        router: QueryRouter,
        *,
        rules: RuleSources,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self._cluster = cluster
        self._scheduler = scheduler
        self._recorder = recorder
        self._router = router
        self._clock = clock
        self._metrics = metrics
        self._rules = rules
        self._objects_due: datetime | None = None
        self._unclaimed: tuple[Alert, ...] = ()  # whose rules may stand in objects that were not read yet
        self._evaluated: Mapping[str, datetime] = {}  # up to when the last process judged each rule
        self.blind: Mapping[str, str] = {}
        self.has_begun = False

    async def run(self) -> None:
        """For ever."""
        await self.begin()
        while True:
            pause = (self._scheduler.next_due(self._clock.now()) - self._clock.now()).total_seconds()
            if pause > 0:
                await asyncio.sleep(pause)
            await self.run_cycle()

    @property
    def rules(self) -> Mapping[str, Rule]:
        """The rules in force here, by id."""
        return self._scheduler.rules

    @property
    def _has_objects(self) -> bool:
        return self._rules.reads_objects and self._cluster.pod_logs is not None

    async def _read_objects(self) -> None:
        """Take in the cluster's PrometheusRule objects as they are now, between rounds."""
        now = self._clock.now()
        if (
            self._cluster.pod_logs is None
            or not self._rules.reads_objects
            or now < (self._objects_due or now)
        ):
            return
        self._objects_due = now + OBJECTS_EVERY
        found = await read_rule_objects(self._cluster.pod_logs)
        self._metrics.rule_object_errors.labels(self._cluster.name).set(len(found.diagnostics))
        for diagnostic in found.diagnostics[:20]:
            _log.warning("a PrometheusRule is wrong", cluster=self._cluster.name, diagnostic=str(diagnostic))
        if found.diagnostics and not found.groups:
            return  # not seen, or nothing usable: what was in force stays
        theirs = tuple(rule for group in found.groups for rule in group.rules)
        gone = self._scheduler.swap((*self._rules.shipped, *theirs))
        self._unclaimed = self._scheduler.restore(self._unclaimed, self._evaluated, now)
        await self._resolve((*gone, *self._unclaimed))
        self._unclaimed = ()

    async def run_cycle(self) -> None:
        """Take in the rules as they are now, and judge those that are due."""
        await self._read_objects()
        await self._run_due()

    async def begin(self) -> None:
        """Wait for the first picture of the cluster, and take up what stood when the last process ended."""
        if self._cluster.cache is not None:
            try:
                await self._cluster.cache.synced(CACHE_SYNC_TIMEOUT)
            except TimeoutError as late:
                _log.warning(
                    "begins without a whole picture", cluster=self._cluster.name, reason=str(late)[:500]
                )
        standing, self._evaluated = await self._recorder.restore()
        self._unclaimed = self._scheduler.restore(standing, self._evaluated, self._clock.now())
        if not self._has_objects:
            await self._resolve(self._unclaimed)
            self._unclaimed = ()

    async def _resolve(self, alerts: tuple[Alert, ...]) -> None:
        """Alerts whose rule is gone: nobody will ever ask about them again. A pending one leaves no trace."""
        if not alerts:
            return
        now = self._clock.now()
        changes = tuple(
            AlertChange(alert=_ended(alert, now), before=AlertState.FIRING, at=now)
            for alert in alerts
            if alert.is_firing
        )
        await self._record(
            EvaluationCycle(at=now, changes=changes, evaluated=frozenset(alert.rule for alert in alerts))
        )

    async def _run_due(self) -> None:
        name, began = self._cluster.name, asyncio.get_running_loop().time()
        now = self._clock.now()
        self._metrics.rule_evaluation_lag.labels(name).set(
            max(0.0, (now - self._scheduler.next_due(now)).total_seconds())
        )
        cycle = await self._scheduler.run_cycle(now)
        sources = self._router.sources(at=now)
        self.blind = {one.source: one.reason for one in sources if one.blind_for is not None}
        await self._record(cycle)
        for one in sources:
            self._metrics.source_up.labels(name, one.source).set(one.blind_for is None)
        self._metrics.blind_rules.labels(name).set(len(cycle.blind))
        self._metrics.rule_evaluations.labels(name).inc(len(cycle.evaluated | cycle.blind.keys()))
        self._metrics.rule_evaluation_failures.labels(name).inc(len(cycle.blind))
        self._metrics.rule_evaluation_duration.labels(name).observe(asyncio.get_running_loop().time() - began)
        self.has_begun = True

    async def _record(self, cycle: EvaluationCycle) -> None:
        await self._recorder.record(
            cycle, rules=self._scheduler.rules, topology=self._cluster.topology(), blind=frozenset(self.blind)
        )


def _ended(alert: Alert, now: datetime) -> Alert:
    """The alert, resolved now because nobody asks about it any more."""
    life = replace(alert.life, state=AlertState.RESOLVED, resolved_at=now)
    return replace(alert, life=life, ended_reason=f"the rule {alert.name} is no longer in force")
