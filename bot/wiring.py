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
from bot.delivery.reconciler import Reconciler
from bot.evaluation.evaluator import Evaluator
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
from bot.settings.mapping import permissions_of, policy_of, route_of, senders_of
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
        yield await _assembled(settings, rulebook, store, clusters, slack, clock, redact)


async def _assembled(
    settings: Settings,
    rulebook: Rulebook,
    store: SqlStore,
    clusters: Mapping[str, LiveCluster],
    slack: SlackIntegration | None,
    clock: Clock,
    redact: Redactor,
) -> Yardmaster:
    metrics = Metrics()
    channel = settings.slack.channel if settings.slack else CHANNEL
    tellings = CardRouting(routes=tuple(route_of(one) for one in settings.routes), default=channel)
    evaluators = {
        name: _evaluator(
            cluster, rulebook, store, tellings, clock, redact, metrics, reads_objects=settings.rules.objects
        )
        for name, cluster in clusters.items()
    }

    def rules() -> Mapping[str, Rule]:
        return {id: rule for evaluator in evaluators.values() for id, rule in evaluator.rules.items()}

    pipeline = Pipeline(
        catalogue=CATALOGUE,
        permissions=permissions_of(settings),
        store=store,
        clusters=clusters,
        writers={name: cluster.writer for name, cluster in clusters.items() if cluster.writer is not None},
        clock=clock,
        defaults=policy_of(settings),
        rules=rules,
    )
    performer = PlanExecutor(store, pipeline.writers, clock)
    doer = PlanRunner(store, performer, channel=channel)
    agenda = Agenda(store, clock, pipeline.handle)
    follower = LaunchWatcher(store, clusters, clock, redact=redact, channel=channel)
    notifier: Notifier = slack.notifier if slack else ConsoleNotifier()
    reconciler = Reconciler(
        store,
        notifier,
        composers(_showing(settings, clusters, evaluators, rules)),
        clock=clock,
        rate_limits=SLACK_RATE_LIMITS,
    )
    for listener in (reconciler.mark_changed, doer.wake, agenda.wake):
        store.listen(listener)
    core: dict[str, Work] = {
        "doer": doer.run,
        "agenda": agenda.run,
        "follower": follower.run,
        "telling": reconciler.run,
        "reminder": LeaseReminder(store, clusters, clock).run,
        "housekeeping": Retention(store, clock, timezone=settings.timezone).run,
    }
    edges: dict[str, Work] = {}
    for name, cluster in clusters.items():
        core[f"evaluator {name}"] = evaluators[name].run
        if cluster.cache is not None:
            edges[f"cache {name}"] = cluster.cache.run
    if slack is not None:
        people = People(slack.directory, settings.teams, clock)
        inbox = Inbox(
            slack.inbox,
            people=people,
            store=store,
            take=pipeline.handle,
            answers=slack.responder,
            clock=clock,
            metrics=metrics,
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
        server=_server(settings, pipeline, metrics, slack, evaluators, clock),
        metrics=metrics,
        core=core,
        edges=edges,
    )


def _evaluator(
    cluster: LiveCluster,
    rulebook: Rulebook,
    store: SqlStore,
    tellings: CardRouting,
    clock: Clock,
    redact: Redactor,
    metrics: Metrics,
    *,
    reads_objects: bool,
) -> Evaluator:
    router = QueryRouter(
        metrics=cluster.prometheus,
        logs=cluster.logs,
        checks=CHECKS,
        check_input=cluster.check_input,
        has_cluster=cluster.cache is not None,
    )
    judge = RuleScheduler(
        cluster.name, rulebook.rules, router, RuleRenderer(cluster.topology, clean=redact.clean)
    )
    return Evaluator(
        cluster,
        judge,
        IncidentRecorder(cluster.name, store, tellings),
        router,
        clock,
        metrics,
        own=rulebook.rules,
        reads_objects=reads_objects,
    )


def _showing(
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
    settings: Settings,
    pipeline: Pipeline,
    metrics: Metrics,
    slack: SlackIntegration | None,
    evaluators: Mapping[str, Evaluator],
    clock: Clock,
) -> Server:
    def trouble() -> str:
        late = [name for name, evaluator in evaluators.items() if not evaluator.has_begun]
        return f"not evaluated yet: {', '.join(late)}" if late else ""

    endpoints = Endpoints(
        take=pipeline.handle,
        clock=clock,
        metrics=metrics,
        trouble=trouble,
        senders=senders_of(settings),
        slack=slack.receive if slack and slack.socket is None else None,
    )
    return Server(application(endpoints), settings.http.listen)
