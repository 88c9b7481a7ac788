"""The evaluation cycles of one cluster: the rule scheduler runs each, and it is recorded before the next starts."""

import asyncio
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog

from alerts.alert import Alert
from alerts.engine import AlertChange
from alerts.incidents.proofs import NO_FACTS, ProofFacts
from alerts.lifecycle import AlertState
from alerts.rules import Proof, Rule
from bot.evaluation import cycle_metrics
from bot.evaluation.backlog import Backlog
from bot.evaluation.cluster_view import ClusterView
from bot.evaluation.failure_alarm import FailureAlarm
from bot.evaluation.gpu_users import GpuUsers
from bot.evaluation.proof_queries import proof_facts
from bot.evaluation.recorder import IncidentRecorder
from bot.evaluation.rule_objects import RuleObjects
from bot.evaluation.scheduler import EvaluationCycle, RuleScheduler
from bot.live_cluster import LiveCluster
from bot.metrics import Metrics
from collectors.check_runner import KUBERNETES
from collectors.facts.clock import LARGE_STEP, Clock, ClockSteps
from collectors.facts.sentences import sentence
from collectors.query_router import QueryRouter

OBJECTS_EVERY = timedelta(seconds=60)  # how often the cluster's PrometheusRule objects are read
MAX_PAUSE = 15.0  # seconds: the clock may step while the loop sleeps
STALLED_AFTER = 180.0  # seconds: much longer than a cycle with a backfill
CACHE_SYNC_TIMEOUT = timedelta(seconds=15)  # at start, for the first snapshot of the cluster

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSources:
    """Where a cluster's rules come from: packs and files, and optionally its PrometheusRule objects."""

    shipped: tuple[Rule, ...]
    reads_objects: bool = False


class Evaluator:
    """Runs one cluster's cycles. `has_evaluated`: a cycle has finished.

    `view` is what others see of it, and `on_view_change` is called when it shows other blind sources, another reason
    or other rules. `clock_steps` notices clock steps, for this cluster alone.
    """

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
        view: ClusterView | None = None,
        clock_steps: ClockSteps | None = None,
        on_view_change: Callable[[], None] = lambda: None,
    ) -> None:
        self._cluster = cluster
        self._scheduler = scheduler
        self._recorder = recorder
        self._router = router
        self._clock = clock
        self._metrics = metrics
        self._rules = rules
        self._objects = RuleObjects(cluster.name)
        self._objects_due = timedelta.min  # by the monotonic clock
        self._orphans: tuple[Alert, ...] = ()  # their rules may be in objects that are not read yet
        self._evaluated: Mapping[str, datetime] = {}  # rule -> when an earlier process last evaluated it
        self._clock_steps = clock_steps or ClockSteps(clock)
        self._backlog = Backlog(cluster.name, recorder, clock)
        self._view = view or ClusterView(scheduler, router, clock)
        self._on_view_change = on_view_change
        self.has_evaluated = False
        self._awake_at = 0.0
        self._failure_alarm = FailureAlarm()
        self._gpu_users = GpuUsers(cluster.sources, clock)

    async def run(self) -> None:
        """Run until cancelled."""
        cache = self._cluster.cache
        stop = cache.subscribe(self._failure_alarm.note) if cache is not None else None
        try:
            await self.start()
            self._failure_alarm.clear()  # everything is due now
            while True:
                await self._sleep_until_due()
                await self.run_cycle()
        finally:
            if stop is not None:
                stop()

    async def _sleep_until_due(self) -> None:
        """Sleep until a rule is due or an object has failed, at most MAX_PAUSE at a time."""
        due = self._scheduler.next_due(self._clock.now())
        while True:
            self._awake_at = asyncio.get_running_loop().time()
            due += self._follow_clock()
            now = self._clock.now()
            pause = (min(due, self._scheduler.next_due(now)) - now).total_seconds()
            if (again := self._backlog.due_in) is not None:
                pause = min(pause, again)
            if failed := self._failure_alarm.rings(self._awake_at):
                self._scheduler.bring_checks_forward(failed)
                return
            if pause <= 0:
                return
            await self._failure_alarm.sleep(min(pause, MAX_PAUSE))

    def _follow_clock(self) -> timedelta:
        """Move what is in memory after a clock step, so that no interval and no `for` changes.

        Return by how much it was set.
        """
        if by := self._clock_steps.taken():
            self._scheduler.restate(by)
            self._router.restate(by)
            self._backlog.restate(by)
            if abs(by) >= LARGE_STEP:
                _log.warning("the clock was set", cluster=self._cluster.name, seconds=by.total_seconds())
        return by

    @property
    def stalled_for(self) -> float:
        """The seconds since the loop last went round, by the monotonic clock."""
        return asyncio.get_running_loop().time() - self._awake_at

    @property
    def rules(self) -> Mapping[str, Rule]:
        """The rules in force, by id."""
        return self._view.rules

    @property
    def blind(self) -> Mapping[str, str]:
        """Source -> why it was blind in the last cycle."""
        return self._view.blind

    @property
    def _has_objects(self) -> bool:
        return self._rules.reads_objects and self._cluster.pod_logs is not None

    async def _read_objects(self) -> None:
        """Read the cluster's PrometheusRule objects, between cycles."""
        now, elapsed = self._clock.now(), self._clock.elapsed()
        if self._cluster.pod_logs is None or not self._rules.reads_objects or elapsed < self._objects_due:
            return
        self._objects_due = elapsed + OBJECTS_EVERY
        found = await self._objects.read(self._cluster.pod_logs)
        self._metrics.rule_object_errors.labels(self._cluster.name).set(len(found.diagnostics))
        for diagnostic in found.diagnostics[:20]:
            _log.warning("error in a PrometheusRule", cluster=self._cluster.name, diagnostic=str(diagnostic))
        if found.diagnostics and not found.groups:
            return  # unreadable, or nothing usable: the current rules stay
        rules = tuple(rule for group in found.groups for rule in group.rules)
        before = self._scheduler.rules
        gone = self._scheduler.swap((*self._rules.shipped, *rules))
        if self._scheduler.rules != before:
            self._on_view_change()
        self._orphans = self._scheduler.restore(self._orphans, self._evaluated, now)
        await self._resolve((*gone, *self._orphans))
        self._orphans = ()

    async def _restate(self) -> None:
        """Follow a clock step, a large one in the store too."""
        self._follow_clock()
        await self._backlog.record_step(self._clock.now())

    async def run_cycle(self) -> None:
        """Read the current rules, and evaluate those that are due."""
        await self._restate()
        await self._read_objects()
        await self._restate()  # reading them takes a while, in which the clock may step
        await self._run_due()

    async def start(self) -> None:
        """Wait for the first snapshot of the cluster, and restore the alerts of the last process.

        It may be called again: after a failure, the state in memory is replaced with the store's.
        """
        self.has_evaluated = False
        if self._cluster.cache is not None:
            try:
                await self._cluster.synced(CACHE_SYNC_TIMEOUT)
            except TimeoutError as error:
                _log.warning(
                    "cluster snapshot is incomplete", cluster=self._cluster.name, reason=str(error)[:500]
                )
        self._scheduler.reset()
        self._backlog.clear()
        alerts, self._evaluated = await self._recorder.restore()
        self._orphans = self._scheduler.restore(alerts, self._evaluated, self._clock.now())
        if not self._has_objects:
            await self._resolve(self._orphans)
            self._orphans = ()

    async def _resolve(self, alerts: tuple[Alert, ...]) -> None:
        """Resolve alerts whose rule is gone and is not evaluated again. Pending ones are dropped."""
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
        cycle = await self._scheduler.run_cycle(now, proven=await self._recorder.proven_alerts())
        sources = self._router.sources(at=now)
        if self._view.follow(sources):
            self._on_view_change()  # before the cycle is recorded, which may fail: the next one sees no change
        await self._record(cycle, await self._proof_facts(cycle, self.blind))
        cycle_metrics.export(
            self._metrics,
            self._cluster,
            cycle,
            sources,
            alerts=self._scheduler.counts(),
            crowded=self._recorder.crowded,
            parents=self._recorder.parents,
            blind_rules=len(self._view.blind_rules),
            unrecorded=self._backlog.changes,
            took=asyncio.get_running_loop().time() - began,
        )
        self.has_evaluated = True

    async def _record(self, cycle: EvaluationCycle, facts: ProofFacts = NO_FACTS) -> None:
        alerts = [*(change.alert for change in cycle.changes), *cycle.standing]
        topology = await self._gpu_users.added_to(self._cluster.topology(), alerts, at=cycle.at)
        await self._backlog.record(cycle.batch(facts), rules=self._scheduler.rules, topology=topology)
        if self._backlog.is_waiting:
            self._scheduler.catch_up(self._clock.now())  # the store may have taken long to fail

    async def _proof_facts(self, cycle: EvaluationCycle, blind: Container[str]) -> ProofFacts:
        """Return what may prove now that faults are over which time does not heal."""
        return await proof_facts(
            self._scheduler.rules,
            await self._recorder.unproven_rules(Proof.METRIC, cycle.updates),
            self._router,
            topology=self._cluster.topology() if KUBERNETES not in blind else None,
            now=cycle.at,
        )


def _ended(alert: Alert, now: datetime) -> Alert:
    """Return the alert resolved now, because its rule is gone."""
    life = replace(alert.life, state=AlertState.RESOLVED, resolved_at=now)
    return replace(
        alert, life=life, ended_reason=sentence("the rule {rule} is no longer in force", rule=alert.name)
    )
