"""This file puts the house together: every part is made here, once, and handed to those who need it."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import structlog

from alerts.rendering import RuleRenderer
from alerts.rules import Rule
from bot.channels.console.notifier import CHANNEL, ConsoleNotifier
from bot.channels.inbox import Inbox
from bot.channels.slack.integration import SlackIntegration, open_slack
from bot.channels.slack.rate_limits import SLACK_RATE_LIMITS
from bot.delivery.composers import CardContext, composers
from bot.delivery.notifier_protocol import Notifier
from bot.delivery.rate_limiter import DeliveryPolicy
from bot.delivery.reconciler import Reconciler
from bot.evaluation.evaluator import Evaluator, RuleSources
from bot.evaluation.recorder import CardRouting, IncidentRecorder
from bot.evaluation.rulebook import Rulebook, read_rulebook
from bot.evaluation.scheduler import RuleScheduler
from bot.http.server import Endpoints, Server, application
from bot.jobs.agenda import Agenda
from bot.jobs.launch_watcher import LaunchWatcher
from bot.jobs.lease_reminder import LeaseReminder
from bot.jobs.plan_runner import PlanRunner
from bot.jobs.retention import Retention
from bot.live_cluster import LiveCluster, open_cluster
from bot.metrics import Metrics
from bot.people import People
from bot.settings.mapping import defaults_of, permissions_of, route_of, senders_of
from bot.settings.schema import Settings
from bot.store.sql_store import SqlStore
from bot.supervise import Work, run_together
from collectors.checks.catalogue import CHECKS
from collectors.facts.clock import Clock, SystemClock
from collectors.facts.redaction import Redactor
from collectors.query_router import QueryRouter
from collectors.trainings.training import Training
from commands.command_catalogue import CATALOGUE
from commands.core.pipeline import Pipeline
from commands.plans.executor import PlanExecutor

_log = structlog.get_logger()


class RulesRefusedError(Exception):
    """The rules cannot be put in force. The text has every diagnostic."""


@dataclass(slots=True, kw_only=True)
class Yardmaster:
    """The whole, put together. `run` it until cancelled."""

    settings: Settings
    store: SqlStore
    clusters: Mapping[str, LiveCluster]
    pipeline: Pipeline
    reconciler: Reconciler
    evaluators: Mapping[str, Evaluator]
    server: Server
    metrics: Metrics
    core: dict[str, Work] = field(default_factory=dict)
    edges: dict[str, Work] = field(default_factory=dict)

    async def run(self) -> None:
        """Everything, until cancelled; what is core ends it when it fails."""
        await self.server.start()
        _log.info("yardmaster runs", address=self.server.address, clusters=sorted(self.clusters))
        try:
            await run_together(core=self.core, edges=self.edges)
        finally:
            await self.server.stop()


@asynccontextmanager
async def build(settings: Settings, *, clock: Clock | None = None) -> AsyncIterator[Yardmaster]:
    """Make every part and open every source; leaving closes them.

    Raises RulesRefusedError, StoreError, SourceError, SendError or ValueError when the settings cannot be used.
    """
    clock = clock or SystemClock()
    rulebook = read_rulebook(settings.rules)
    if rulebook.diagnostics:
        raise RulesRefusedError("\n".join(str(diagnostic) for diagnostic in rulebook.diagnostics))
    redact = Redactor(settings.redact)
    async with AsyncExitStack() as stack:
        store = await SqlStore.open(settings.store.url)
        stack.push_async_callback(store.close)
        clusters = {
            one.name: await open_cluster(one, clock=clock, redact=redact, stack=stack)
            for one in settings.clusters
        }
        slack = await open_slack(settings.slack, clock=clock, stack=stack) if settings.slack else None
        shared = _Shared(
            settings=settings, rulebook=rulebook, store=store, clock=clock, redact=redact, metrics=Metrics()
        )
        yield _assemble(shared, clusters, slack)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shared:
    """What most parts need."""

    settings: Settings
    rulebook: Rulebook
    store: SqlStore
    clock: Clock
    redact: Redactor
    metrics: Metrics


def _assemble(
    shared: _Shared, clusters: Mapping[str, LiveCluster], slack: SlackIntegration | None
) -> Yardmaster:
    settings, store, clock = shared.settings, shared.store, shared.clock
    channel = settings.slack.channel if settings.slack else CHANNEL
    routing = CardRouting(routes=tuple(route_of(one) for one in settings.routes), default=channel)
    evaluators = {name: _evaluator(shared, cluster, routing) for name, cluster in clusters.items()}

    def rules() -> Mapping[str, Rule]:
        return {id: rule for evaluator in evaluators.values() for id, rule in evaluator.rules.items()}

    pipeline = Pipeline(
        catalogue=CATALOGUE,
        permissions=permissions_of(settings),
        store=store,
        clusters=clusters,
        writers={name: cluster.writer for name, cluster in clusters.items() if cluster.writer is not None},
        clock=clock,
        defaults=defaults_of(settings),
        rules=rules,
    )
    plans = PlanRunner(store, PlanExecutor(store, pipeline.writers, clock), channel=channel)
    agenda = Agenda(store, clock, pipeline.handle)
    launches = LaunchWatcher(store, clusters, clock, redact=shared.redact, channel=channel)
    notifier: Notifier = slack.notifier if slack else ConsoleNotifier()
    reconciler = Reconciler(
        store,
        notifier,
        composers(_card_context(settings, clusters, evaluators, rules)),
        clock=clock,
        policy=DeliveryPolicy(rate_limits=SLACK_RATE_LIMITS),
    )
    for listener in (reconciler.mark_changed, plans.wake, agenda.wake):
        store.listen(listener)
    core: dict[str, Work] = {
        "plans": plans.run,
        "agenda": agenda.run,
        "launches": launches.run,
        "delivery": reconciler.run,
        "lease reminders": LeaseReminder(store, clusters, clock).run,
        "retention": Retention(store, clock, timezone=settings.timezone).run,
    }
    edges: dict[str, Work] = {}
    for name, cluster in clusters.items():
        core[f"evaluation {name}"] = evaluators[name].run
        if cluster.cache is not None:
            edges[f"cache {name}"] = cluster.cache.run
    if slack is not None:
        inbox = Inbox(
            slack.inbox,
            people=People(slack.directory, settings.teams, clock),
            store=store,
            take=pipeline.handle,
            answers=slack.responder,
            clock=clock,
            metrics=shared.metrics,
        )
        core["inbox"] = inbox.run
        if slack.socket is not None:
            edges["slack socket"] = slack.socket.run
    return Yardmaster(
        settings=settings,
        store=store,
        clusters=clusters,
        pipeline=pipeline,
        reconciler=reconciler,
        evaluators=evaluators,
        server=_server(shared, pipeline, slack, evaluators),
        metrics=shared.metrics,
        core=core,
        edges=edges,
    )


def _evaluator(shared: _Shared, cluster: LiveCluster, routing: CardRouting) -> Evaluator:
    router = QueryRouter(
        metrics=cluster.prometheus,
        logs=cluster.logs,
        checks=CHECKS,
        check_input=cluster.check_input,
        has_cluster=cluster.cache is not None,
    )
    rules = RuleSources(shipped=tuple(shared.rulebook.rules), reads_objects=shared.settings.rules.objects)
    renderer = RuleRenderer(cluster.topology, clean=shared.redact.clean)
    return Evaluator(
        cluster,
        RuleScheduler(cluster.name, rules.shipped, router, renderer),
        IncidentRecorder(cluster.name, shared.store, routing),
        router,
        rules=rules,
        clock=shared.clock,
        metrics=shared.metrics,
    )


def _card_context(
    settings: Settings,
    clusters: Mapping[str, LiveCluster],
    evaluators: Mapping[str, Evaluator],
    rules: Callable[[], Mapping[str, Rule]],
) -> CardContext:
    def training(cluster: str, id: str) -> Training | None:
        found = clusters.get(cluster)
        return found.training(id) if found else None

    def blind(cluster: str) -> Mapping[str, str]:
        evaluator = evaluators.get(cluster)
        return evaluator.blind if evaluator else {}

    return CardContext(
        rules=rules,
        training=training,
        blind=blind,
        people=settings.commands.owners,
        links={one.name: one.links for one in settings.clusters},
        runbooks=settings.runbooks,
        many_clusters=len(clusters) > 1,
    )


def _server(
    shared: _Shared,
    pipeline: Pipeline,
    slack: SlackIntegration | None,
    evaluators: Mapping[str, Evaluator],
) -> Server:
    def not_ready() -> str:
        late = [name for name, evaluator in evaluators.items() if not evaluator.has_begun]
        return f"not evaluated yet: {', '.join(late)}" if late else ""

    endpoints = Endpoints(
        take=pipeline.handle,
        clock=shared.clock,
        metrics=shared.metrics,
        not_ready=not_ready,
        senders=senders_of(shared.settings),
        slack=slack.receive if slack and slack.socket is None else None,
    )
    return Server(application(endpoints), shared.settings.http.listen)
