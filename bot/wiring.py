"""This file puts the house together: every part is made here, once, and handed to those who need it."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import structlog

from alerts.rendering import RuleRenderer
from alerts.rules import Rule
from bot.agenda import Agenda
from bot.channels.console.notifier import CHANNEL, ConsoleNotifier
from bot.channels.inbox import Inbox
from bot.channels.slack.integration import SlackIntegration, open_slack
from bot.channels.slack.rate_limits import SLACK_RATE_LIMITS
from bot.delivery.composers import CardContext, composers
from bot.delivery.notifier import Notifier
from bot.delivery.reconciler import Reconciler
from bot.doing import Doer
from bot.evaluating import Evaluator
from bot.following import Follower
from bot.housekeeping import Housekeeper
from bot.http.server import Endpoints, Server, application
from bot.judging import Judge
from bot.keeping import Keeper, Tellings
from bot.metrics import Metrics
from bot.people import People
from bot.reminding import Reminder
from bot.rulebook import Rulebook, read_rulebook
from bot.settings import Settings
from bot.sites import ClusterSite, open_site
from bot.store.sql import SqlStore
from bot.supervise import Work, run_together
from bot.translating import permissions_of, policy_of, route_of, senders_of
from collectors.checks.catalogue import CHECKS
from collectors.facts.clock import Clock, SystemClock
from collectors.facts.redaction import Redactor
from collectors.query_router import QueryRouter
from collectors.trainings.views import TrainingView
from commands.catalogue import CATALOGUE
from commands.performing import Performer
from commands.pipeline import Pipeline

_log = structlog.get_logger()


class RulesRefusedError(Exception):
    """The rules cannot be put in force. The text has every diagnostic."""


@dataclass(slots=True, kw_only=True)
class Yardmaster:
    """The whole, put together. `run` it until cancelled."""

    settings: Settings
    store: SqlStore
    sites: Mapping[str, ClusterSite]
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
        _log.info("yardmaster runs", address=self.server.address, clusters=sorted(self.sites))
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
        sites = {
            one.name: await open_site(one, clock=clock, redact=redact, stack=stack)
            for one in settings.clusters
        }
        slack = await open_slack(settings.slack, clock=clock, stack=stack) if settings.slack else None
        yield await _assembled(settings, rulebook, store, sites, slack, clock, redact)


async def _assembled(
    settings: Settings,
    rulebook: Rulebook,
    store: SqlStore,
    sites: Mapping[str, ClusterSite],
    slack: SlackIntegration | None,
    clock: Clock,
    redact: Redactor,
) -> Yardmaster:
    metrics = Metrics()
    channel = settings.slack.channel if settings.slack else CHANNEL
    tellings = Tellings(routes=tuple(route_of(one) for one in settings.routes), default=channel)
    evaluators = {
        name: _evaluator(
            site, rulebook, store, tellings, clock, redact, metrics, reads_objects=settings.rules.objects
        )
        for name, site in sites.items()
    }

    def rules() -> Mapping[str, Rule]:
        return {id: rule for evaluator in evaluators.values() for id, rule in evaluator.rules.items()}

    pipeline = Pipeline(
        catalogue=CATALOGUE,
        permissions=permissions_of(settings),
        store=store,
        sites=sites,
        writers={name: site.writer for name, site in sites.items() if site.writer is not None},
        clock=clock,
        policy=policy_of(settings),
        rules=rules,
    )
    performer = Performer(store, pipeline.writers, clock)
    doer = Doer(store, performer, channel=channel)
    agenda = Agenda(store, clock, pipeline.take)
    follower = Follower(store, sites, clock, redact=redact, channel=channel)
    notifier: Notifier = slack.notifier if slack else ConsoleNotifier()
    reconciler = Reconciler(
        store,
        notifier,
        composers(_showing(settings, sites, evaluators, rules)),
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
        "reminder": Reminder(store, sites, clock).run,
        "housekeeping": Housekeeper(store, clock, timezone=settings.timezone).run,
    }
    edges: dict[str, Work] = {}
    for name, site in sites.items():
        core[f"evaluator {name}"] = evaluators[name].run
        if site.cache is not None:
            edges[f"cache {name}"] = site.cache.run
    if slack is not None:
        people = People(slack.directory, settings.teams, clock)
        inbox = Inbox(
            slack.inbox,
            people=people,
            store=store,
            take=pipeline.take,
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
        sites=sites,
        pipeline=pipeline,
        reconciler=reconciler,
        evaluators=evaluators,
        server=_server(settings, pipeline, metrics, slack, evaluators, clock),
        metrics=metrics,
        core=core,
        edges=edges,
    )


def _evaluator(
    site: ClusterSite,
    rulebook: Rulebook,
    store: SqlStore,
    tellings: Tellings,
    clock: Clock,
    redact: Redactor,
    metrics: Metrics,
    *,
    reads_objects: bool,
) -> Evaluator:
    router = QueryRouter(
        metrics=site.prometheus,
        logs=site.logs,
        checks=CHECKS,
        check_input=site.check_input,
        has_cluster=site.cache is not None,
    )
    judge = Judge(site.name, rulebook.rules, router, RuleRenderer(site.topology, clean=redact.clean))
    return Evaluator(
        site,
        judge,
        Keeper(site.name, store, tellings),
        router,
        clock,
        metrics,
        own=rulebook.rules,
        reads_objects=reads_objects,
    )


def _showing(
    settings: Settings,
    sites: Mapping[str, ClusterSite],
    evaluators: Mapping[str, Evaluator],
    rules: Callable[[], Mapping[str, Rule]],
) -> CardContext:
    def training(cluster: str, id: str) -> TrainingView | None:
        site = sites.get(cluster)
        return site.training(id) if site else None

    def blind(cluster: str) -> Mapping[str, str]:
        evaluator = evaluators.get(cluster)
        return evaluator.blind if evaluator else {}

    return CardContext(
        rules=rules,
        training=training,
        blind=blind,
        people=settings.commands.owners,
        links={cluster.name: cluster.links for cluster in settings.clusters},
        runbooks=settings.runbooks,
        many_clusters=len(sites) > 1,
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
        take=pipeline.take,
        clock=clock,
        metrics=metrics,
        trouble=trouble,
        senders=senders_of(settings),
        slack=slack.receive if slack and slack.socket is None else None,
    )
    return Server(application(endpoints), settings.http.listen)
