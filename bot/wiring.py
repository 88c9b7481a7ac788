"""Wiring: every part is made here or in the `wired_` files, once, and passed to the parts that need it."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import structlog

from alerts.rendering import RuleRenderer
from alerts.rules import Rule
from bot.channels.channel_catalogue import default_channel, open_channels
from bot.channels.form_names import FormNames
from bot.channels.heartbeats import HeartbeatSender
from bot.channels.open_channel import ChannelDependencies, Conversation, OpenChannel
from bot.delivery.reconciler import Reconciler
from bot.evaluation.evaluator import STALLED_AFTER, Evaluator, RuleSources
from bot.evaluation.recorder import CardRouting, IncidentRecorder
from bot.evaluation.rulebook import read_rulebook
from bot.evaluation.scheduler import RuleScheduler
from bot.http.server import Endpoints, Server, application
from bot.language.phrasebook import phrasebook
from bot.live_cluster import LiveCluster, open_cluster
from bot.metrics import Metrics
from bot.people import People
from bot.settings.mapping import defaults_of, permissions_of, route_of, senders_of
from bot.settings.schema import Settings
from bot.shared_parts import SharedParts
from bot.source_catalogue import SourceParts, not_connected
from bot.store.sql_store import SqlStore
from bot.supervise import Work, run_together
from bot.wired_channels import conversation_of, wire_charts, wire_conversation, wire_delivery
from bot.wired_jobs import wire_jobs
from collectors.checks.catalogue import CHECKS
from collectors.checks.check_runner import CheckRunner
from collectors.facts.clock import Clock, SystemClock
from collectors.facts.redaction import Redactor, use_redactor
from collectors.internal_errors import InternalErrors
from collectors.query_router import QueryRouter
from collectors.unreadable_items import UnreadableItems
from commands.command_catalogue import LEXICON
from commands.core.pipeline import Pipeline, as_given
from commands.core.rule_runs import RuleRun

_log = structlog.get_logger()

NO_CLUSTER = ""  # of commands when the settings have no cluster: `help` and the store still answer


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
        stack.callback(use_redactor, use_redactor(redact))
        store = await SqlStore.open(settings.store.url, on_commit=metrics.note_commit, errors=errors)
        stack.push_async_callback(store.close)
        parts = SourceParts(redact=redact, errors=errors, unreadable=unreadable)
        clusters = {
            one.name: await open_cluster(one, clock=clock, parts=parts, stack=stack)
            for one in settings.clusters
        }
        book = phrasebook(settings.language)
        opened = await open_channels(
            settings, ChannelDependencies(store=store, clock=clock, stack=stack, book=book)
        )
        shared = SharedParts(
            settings=settings,
            rulebook=rulebook,
            store=store,
            clock=clock,
            redact=redact,
            metrics=metrics,
            errors=errors,
        )
        yield _assemble(shared, clusters, opened)


def _assemble(
    shared: SharedParts, clusters: Mapping[str, LiveCluster], opened: Mapping[str, OpenChannel]
) -> Yardmaster:
    settings, store, clock = shared.settings, shared.store, shared.clock
    channel = default_channel(opened)
    routing = CardRouting(routes=tuple(route_of(one) for one in settings.routes), default=channel)
    evaluators = {name: _evaluator(shared, cluster, routing) for name, cluster in clusters.items()}
    for name, cluster in list(clusters.items())[:1]:
        cluster.clock_steps = evaluators[name].clock_steps

    def rules() -> Mapping[str, Rule]:
        return {id: rule for evaluator in evaluators.values() for id, rule in evaluator.rules.items()}

    missing = {one.name: not_connected(one) for one in settings.clusters}

    def unseen(cluster: str) -> Mapping[str, str]:
        if cluster not in evaluators:
            return {}
        return {**missing[cluster], **evaluators[cluster].blind}

    def rule_runs(cluster: str) -> Mapping[str, RuleRun]:
        return evaluators[cluster].rule_runs if cluster in evaluators else {}

    conversation = conversation_of(opened)
    people = People(conversation.directory, settings.teams) if conversation else None
    pipeline = Pipeline(
        lexicon=LEXICON,
        permissions=permissions_of(settings),
        store=store,
        clusters=clusters or {NO_CLUSTER: LiveCluster(NO_CLUSTER, clock=clock)},
        writers={name: cluster.writer for name, cluster in clusters.items() if cluster.writer is not None},
        clock=clock,
        defaults=defaults_of(settings),
        rules=rules,
        unseen=unseen,
        rule_runs=rule_runs,
        current=people.current if people else as_given,
        members=people.members if people else None,
        channel=channel,
        observe=lambda command, outcome: shared.metrics.commands.labels(command, outcome).inc(),
    )
    reconciler = wire_delivery(shared, opened, clusters, evaluators, rules)
    for name, evaluator in evaluators.items():
        evaluator.on_view_change = partial(reconciler.mark_view_change, name)
    jobs = wire_jobs(
        shared,
        clusters,
        pipeline,
        channel=channel,
        reaches_people=lambda kind: kind in opened and opened[kind].notifier.capabilities.direct,
    )
    parts = {**jobs, "delivery": reconciler.run}
    parts |= wire_charts(shared, opened, clusters, rules)
    not_ready = partial(_why_not_ready, evaluators)
    parts |= {
        f"heartbeat {one.channel}": HeartbeatSender(one, not_ready).run
        for kind in opened.values()
        for one in kind.heartbeats
    }
    for name, cluster in clusters.items():
        parts[f"evaluation {name}"] = evaluators[name].run
        if cluster.cache is not None:
            parts[f"cache {name}"] = cluster.cache.run
    if conversation is not None and people is not None:
        suggest = FormNames(
            people=people, store=store, clusters=clusters, rules=rules, teams=tuple(settings.teams)
        )
        parts |= wire_conversation(
            shared, conversation, people, take=pipeline.handle, reconciler=reconciler, suggest=suggest
        )
    return Yardmaster(
        settings=settings,
        store=store,
        clusters=clusters,
        pipeline=pipeline,
        reconciler=reconciler,
        evaluators=evaluators,
        server=_server(shared, pipeline, conversation, not_ready),
        metrics=shared.metrics,
        errors=shared.errors,
        parts=parts,
    )


def _evaluator(shared: SharedParts, cluster: LiveCluster, routing: CardRouting) -> Evaluator:
    router = QueryRouter(
        cluster.sources,
        CheckRunner(CHECKS, cluster.check_input, has_cluster=cluster.cache is not None, errors=shared.errors),
    )
    rules = RuleSources(shipped=tuple(shared.rulebook.rules), reads_objects=shared.settings.rules.objects)
    renderer = RuleRenderer(cluster.topology, clean=shared.redact.clean)
    return Evaluator(
        cluster,
        RuleScheduler(cluster.name, rules.shipped, router, renderer, errors=shared.errors),
        IncidentRecorder(
            cluster.name,
            shared.store,
            routing,
            reopens_within=shared.settings.incidents.reopens_within,
        ),
        router,
        rules=rules,
        clock=shared.clock,
        metrics=shared.metrics,
    )


def _why_not_ready(evaluators: Mapping[str, Evaluator]) -> str:
    """Return which clusters are not evaluated; empty if all are."""
    late = [name for name, evaluator in evaluators.items() if not evaluator.has_evaluated]
    if late:
        return f"not evaluated yet: {', '.join(late)}"
    stalled = [name for name, evaluator in evaluators.items() if evaluator.stalled_for > STALLED_AFTER]
    return f"evaluation stands still: {', '.join(stalled)}" if stalled else ""


def _server(
    shared: SharedParts,
    pipeline: Pipeline,
    conversation: Conversation | None,
    not_ready: Callable[[], str],
) -> Server:
    endpoints = Endpoints(
        book=phrasebook(shared.settings.language),
        take=pipeline.handle,
        clock=shared.clock,
        metrics=shared.metrics,
        not_ready=not_ready,
        senders=senders_of(shared.settings),
        slack=conversation.receive if conversation else None,
    )
    return Server(application(endpoints), shared.settings.http.listen)
