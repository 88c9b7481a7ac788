"""Wiring: every part is made here, once, and passed to the parts that need it."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import structlog

from alerts.rendering import RuleRenderer
from alerts.rules import Rule
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext
from bot.channels.console.notifier import CHANNEL, ConsoleNotifier
from bot.channels.inbox import Inbox, InboxDependencies
from bot.channels.slack.integration import SlackIntegration, open_slack
from bot.channels.slack.rate_limits import SLACK_RATE_LIMITS
from bot.delivery.measured_notifier import MeasuredNotifier
from bot.delivery.notifier_protocol import Notifier
from bot.delivery.rate_limiter import DeliveryPolicy
from bot.delivery.reconciler import Reconciler
from bot.evaluation.evaluator import STALLED_AFTER, Evaluator, RuleSources
from bot.evaluation.recorder import CardRouting, IncidentRecorder
from bot.evaluation.rulebook import Rulebook, read_rulebook
from bot.evaluation.scheduler import RuleScheduler
from bot.event_loop_lag import EventLoopLag
from bot.http.server import Endpoints, Server, application
from bot.jobs import garbage_collection
from bot.jobs.agenda import Agenda
from bot.jobs.launch_watcher import LaunchWatcher
from bot.jobs.lease_reminder import LeaseReminder
from bot.jobs.plan_runner import PlanRunner
from bot.jobs.retention import Retention
from bot.jobs.unknown_steps import UnknownSteps
from bot.live_cluster import LiveCluster, open_cluster
from bot.metrics import Metrics
from bot.people import People
from bot.settings.mapping import defaults_of, permissions_of, route_of, senders_of
from bot.settings.schema import Settings
from bot.source_catalogue import SourceParts
from bot.store.sql_store import SqlStore
from bot.supervise import Work, run_together
from collectors.checks.catalogue import CHECKS
from collectors.checks.check_runner import CheckRunner
from collectors.facts.clock import Clock, SystemClock
from collectors.facts.queries import Query
from collectors.facts.redaction import Redactor
from collectors.internal_errors import InternalErrors
from collectors.query_router import QueryRouter
from collectors.trainings.training import Training
from collectors.unreadable_items import UnreadableItems
from commands.command_catalogue import CATALOGUE
from commands.core.pipeline import Pipeline, as_given
from commands.plans.executor import PlanExecutor

_log = structlog.get_logger()


class RulesRefusedError(Exception):
    """The rules cannot be loaded. The text has every diagnostic."""


@dataclass(slots=True, kw_only=True)
class Yardmaster:
    """All parts of one Yardmaster. `run` runs until cancelled."""

    settings: Settings
    store: SqlStore
    clusters: Mapping[str, LiveCluster]
    pipeline: Pipeline
    reconciler: Reconciler
    evaluators: Mapping[str, Evaluator]
    server: Server
    metrics: Metrics
    errors: InternalErrors
    parts: dict[str, Work] = field(default_factory=dict)

    async def run(self) -> None:
        """Run all tasks until cancelled."""
        await self.server.start()
        _log.info("yardmaster started", address=self.server.address, clusters=sorted(self.clusters))
        try:
            await run_together(self.parts, self.errors)
        finally:
            await self.server.stop()


@asynccontextmanager
async def build(settings: Settings, *, clock: Clock | None = None) -> AsyncIterator[Yardmaster]:
    """Make every part and open every source; they are closed on exit.

    Raises RulesRefusedError, StoreError, SourceError, SendError or ValueError when the settings cannot be used.
    """
    clock = clock or SystemClock()
    rulebook = read_rulebook(settings.rules)
    if rulebook.diagnostics:
        raise RulesRefusedError("\n".join(str(diagnostic) for diagnostic in rulebook.diagnostics))
    redact = Redactor(settings.redact)
    metrics = Metrics()
    errors = InternalErrors(lambda component: metrics.internal_errors.labels(component).inc())
    unreadable = UnreadableItems(lambda source: metrics.unreadable_items.labels(source).inc())
    async with AsyncExitStack() as stack:
        store = await SqlStore.open(settings.store.url, on_commit=metrics.note_commit, errors=errors)
        stack.push_async_callback(store.close)
        parts = SourceParts(redact=redact, errors=errors, unreadable=unreadable)
        clusters = {
            one.name: await open_cluster(one, clock=clock, parts=parts, stack=stack)
            for one in settings.clusters
        }
        slack = await open_slack(settings.slack, store, clock=clock, stack=stack) if settings.slack else None
        shared = _Shared(
            settings=settings,
            rulebook=rulebook,
            store=store,
            clock=clock,
            redact=redact,
            metrics=metrics,
            errors=errors,
        )
        yield _assemble(shared, clusters, slack)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shared:
    """Dependencies of most parts."""

    settings: Settings
    rulebook: Rulebook
    store: SqlStore
    clock: Clock
    redact: Redactor
    metrics: Metrics
    errors: InternalErrors


def _assemble(
    shared: _Shared, clusters: Mapping[str, LiveCluster], slack: SlackIntegration | None
) -> Yardmaster:
    settings, store, clock = shared.settings, shared.store, shared.clock
    channel = settings.slack.channel if settings.slack else CHANNEL
    routing = CardRouting(routes=tuple(route_of(one) for one in settings.routes), default=channel)
    evaluators = {name: _evaluator(shared, cluster, routing) for name, cluster in clusters.items()}
    for name, cluster in list(clusters.items())[:1]:
        cluster.clock_steps = evaluators[name].clock_steps

    def rules() -> Mapping[str, Rule]:
        return {id: rule for evaluator in evaluators.values() for id, rule in evaluator.rules.items()}

    people = People(slack.directory, settings.teams) if slack else None
    pipeline = Pipeline(
        catalogue=CATALOGUE,
        permissions=permissions_of(settings),
        store=store,
        clusters=clusters,
        writers={name: cluster.writer for name, cluster in clusters.items() if cluster.writer is not None},
        clock=clock,
        defaults=defaults_of(settings),
        rules=rules,
        current=people.current if people else as_given,
        observe=lambda command, outcome: shared.metrics.commands.labels(command, outcome).inc(),
    )
    executor = PlanExecutor(
        store,
        pipeline.writers,
        clock,
        errors=shared.errors,
        observe=lambda kind, outcome: shared.metrics.plan_steps.labels(kind, outcome).inc(),
    )
    plans = PlanRunner(store, executor, channel=channel)
    unknown = UnknownSteps(store, executor, clock, errors=shared.errors)
    agenda = Agenda(store, clock, pipeline.handle)
    launches = LaunchWatcher(
        store, clusters, clock, redact=shared.redact, channel=channel, errors=shared.errors
    )
    notifier: Notifier = slack.notifier if slack else ConsoleNotifier()
    integration = "slack" if slack else "console"
    reconciler = Reconciler(
        store,
        MeasuredNotifier(notifier, shared.metrics, integration=integration),
        CardCatalogue(_card_context(settings, clusters, evaluators, rules)),
        clock=clock,
        policy=DeliveryPolicy(rate_limits=SLACK_RATE_LIMITS),
        errors=shared.errors,
    )
    for name, evaluator in evaluators.items():
        evaluator.on_view_change = partial(reconciler.mark_view_change, name)
    for listener in (reconciler.mark_changed, plans.wake, unknown.wake, agenda.wake, launches.wake):
        store.listen(listener)
    parts: dict[str, Work] = {
        "plans": plans.run,
        "unknown steps": unknown.run,
        "agenda": agenda.run,
        "launches": launches.run,
        "delivery": reconciler.run,
        "lease reminders": LeaseReminder(store, clusters, clock).run,
        "event loop lag": EventLoopLag(shared.metrics.event_loop_lag.observe).run,
        "garbage collection": garbage_collection.run,
        "retention": Retention(store, clock, timezone=settings.timezone).run,
    }
    for name, cluster in clusters.items():
        parts[f"evaluation {name}"] = evaluators[name].run
        if cluster.cache is not None:
            parts[f"cache {name}"] = cluster.cache.run
    if slack is not None and people is not None:
        inbox = Inbox(
            InboxDependencies(
                people=people,
                store=store,
                take=pipeline.handle,
                responder=slack.responder,
                clock=clock,
                on_interaction=reconciler.retry_now,
            )
        )
        store.listen(inbox.wake)
        parts |= {"intake": slack.intake.run, "inbox": inbox.run}
        if slack.socket is not None:
            slack.socket.on_connected = reconciler.retry_now
            parts["slack socket"] = slack.socket.run
    return Yardmaster(
        settings=settings,
        store=store,
        clusters=clusters,
        pipeline=pipeline,
        reconciler=reconciler,
        evaluators=evaluators,
        server=_server(shared, pipeline, slack, evaluators),
        metrics=shared.metrics,
        errors=shared.errors,
        parts=parts,
    )


def _evaluator(shared: _Shared, cluster: LiveCluster, routing: CardRouting) -> Evaluator:
    router = QueryRouter(
        cluster.sources,
        CheckRunner(CHECKS, cluster.check_input, has_cluster=cluster.cache is not None, errors=shared.errors),
    )
    rules = RuleSources(shipped=tuple(shared.rulebook.rules), reads_objects=shared.settings.rules.objects)
    renderer = RuleRenderer(cluster.topology, clean=shared.redact.clean)
    return Evaluator(
        cluster,
        RuleScheduler(cluster.name, rules.shipped, router, renderer, errors=shared.errors),
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

    def blind(cluster: str, queries: Iterable[Query]) -> Mapping[str, str]:
        evaluator = evaluators.get(cluster)
        return evaluator.blind_sources(queries) if evaluator else {}

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
    shared: _Shared, pipeline: Pipeline, slack: SlackIntegration | None, evaluators: Mapping[str, Evaluator]
) -> Server:
    def not_ready() -> str:
        late = [name for name, evaluator in evaluators.items() if not evaluator.has_evaluated]
        if late:
            return f"not evaluated yet: {', '.join(late)}"
        stalled = [name for name, evaluator in evaluators.items() if evaluator.stalled_for > STALLED_AFTER]
        return f"evaluation stands still: {', '.join(stalled)}" if stalled else ""

    endpoints = Endpoints(
        take=pipeline.handle,
        clock=shared.clock,
        metrics=shared.metrics,
        not_ready=not_ready,
        senders=senders_of(shared.settings),
        slack=slack.receive if slack and slack.socket is None else None,
    )
    return Server(application(endpoints), shared.settings.http.listen)
