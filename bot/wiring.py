"""Wiring: every part is made here or in the `wired_` files, once, and passed to the parts that need it."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import structlog

from alerts.kept_bodies import BodyStore
from bot.channels.channel_catalogue import default_channel, open_channels
from bot.channels.form_names import FormNames
from bot.channels.heartbeats import HeartbeatSender
from bot.channels.open_channel import ChannelDependencies, Conversation, OpenChannel
from bot.chat_accounts import People
from bot.delivery.reconciler import Reconciler
from bot.evaluation.evaluator import STALLED_AFTER, Evaluator
from bot.evaluation.rulebook import read_rulebook
from bot.http.connections import Connections
from bot.http.senders import senders_of
from bot.http.server import Endpoints, Server, application
from bot.language.message_catalogue import catalogue
from bot.live_cluster import LiveCluster, open_cluster
from bot.metrics import Metrics
from bot.person_book import CHAT, open_person_book
from bot.receiving.alert_inbox import AlertInbox
from bot.receiving.receiver import Receiver
from bot.settings.mapping import (
    listed_persons,
    routing_of,
)
from bot.settings.schema import Settings
from bot.shared_parts import SharedParts
from bot.source_catalogue import SourceParts
from bot.store.inbox_file import InboxFile
from bot.store.sql_store import SqlStore
from bot.supervise import Work, run_together
from bot.wired_channels import (
    conversation_of,
    wire_charts,
    wire_conversation,
    wire_delivery,
    wire_store_watch,
)
from bot.wired_evaluation import wire_evaluator, wire_recorder, wire_view
from bot.wired_jobs import wire_jobs
from bot.wired_pipeline import RulesOfAll, wire_pipeline
from bot.wired_receiving import wire_alert_routes, wire_receiver, wire_shared_silences
from collectors.facts.clock import Clock, ClockSteps, SystemClock
from collectors.facts.redaction import Redactor, use_redactor
from collectors.internal_errors import InternalErrors
from collectors.unreadable_items import UnreadableItems
from commands.core.pipeline import Pipeline

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
        store = await SqlStore.open(
            settings.store.url, on_commit=metrics.note_commit, errors=errors, alone=True
        )
        stack.push_async_callback(store.close)
        parts = SourceParts(redact=redact, errors=errors, unreadable=unreadable)
        persons = await open_person_book(store, listed_persons(settings))
        clusters = {
            one.name: await open_cluster(
                one,
                clock=clock,
                parts=parts,
                stack=stack,
                clock_steps=ClockSteps(clock) if number == 0 else None,
                training_kinds=settings.commands.training_kinds,
            )
            for number, one in enumerate(settings.clusters)
        }
        opened = await open_channels(
            settings,
            ChannelDependencies(
                store=store, clock=clock, stack=stack, catalogue=catalogue(settings.language), errors=errors
            ),
        )
        shared = SharedParts(
            settings=settings,
            rulebook=rulebook,
            store=store,
            persons=persons,
            clock=clock,
            redact=redact,
            metrics=metrics,
            errors=errors,
        )
        bodies = await InboxFile.open(settings.store.url)
        if bodies is not None:
            stack.push_async_callback(bodies.close)
        yield _assemble(shared, clusters, opened, bodies)


def _assemble(
    shared: SharedParts,
    clusters: Mapping[str, LiveCluster],
    opened: Mapping[str, OpenChannel],
    bodies: BodyStore | None,
) -> Yardmaster:
    channel = default_channel(opened)
    views = {name: wire_view(shared, cluster) for name, cluster in clusters.items()}

    rules = RulesOfAll(tuple(views.values()))

    conversation = conversation_of(opened)
    people = _people(shared, conversation) if conversation else None
    known = clusters or {NO_CLUSTER: LiveCluster(NO_CLUSTER, clock=shared.clock)}
    routing = routing_of(shared.settings, default=channel)
    recorders = {name: wire_recorder(shared, name, routing) for name in known}
    receiver = wire_receiver(shared, known, views, recorders)
    inbox = AlertInbox(
        receiver, bodies, shared.store, shared.clock, note_waiting=shared.metrics.alerts_waiting.set
    )
    pipeline = wire_pipeline(
        shared, known, views, people, routing=routing, rules=rules, catch_up=inbox.caught_up
    )
    reconciler, delivery = wire_delivery(shared, opened, clusters, views, rules)
    evaluators = {
        name: wire_evaluator(
            shared, cluster, views[name], recorders[name], partial(reconciler.mark_view_change, name)
        )
        for name, cluster in clusters.items()
    }
    not_ready = partial(_why_not_ready, shared.store, evaluators)
    parts = wire_jobs(
        shared,
        clusters,
        pipeline,
        rules=rules,
        routing=routing,
        reaches_people=lambda kind: kind in opened and opened[kind].notifier.capabilities.direct,
    )
    parts |= wire_store_watch(shared, opened, channel)
    parts |= {
        "received alerts": receiver.run,
        "inbox of alerts": inbox.run,
        **wire_shared_silences(shared, tuple(known)),
    }
    parts |= {**delivery, **wire_charts(shared, opened, clusters, rules)}
    parts |= {
        f"heartbeat {one.channel}": HeartbeatSender(one, not_ready).run
        for kind in opened.values()
        for one in kind.heartbeats
    }
    parts |= {f"evaluation {name}": evaluator.run for name, evaluator in evaluators.items()}
    parts |= {f"cache {name}": one.cache.run for name, one in clusters.items() if one.cache is not None}
    if conversation is not None and people is not None:
        suggest = FormNames(
            people=people,
            store=shared.store,
            clusters=clusters,
            rules=rules,
            teams=tuple(shared.settings.teams),
            defaults=pipeline.defaults,
        )
        parts |= wire_conversation(
            shared, conversation, people, take=pipeline.handle, reconciler=reconciler, suggest=suggest
        )
    return Yardmaster(
        settings=shared.settings,
        store=shared.store,
        clusters=clusters,
        pipeline=pipeline,
        reconciler=reconciler,
        evaluators=evaluators,
        server=_server(shared, pipeline, receiver, inbox, conversation, not_ready),
        metrics=shared.metrics,
        errors=shared.errors,
        parts=parts,
    )


def _people(shared: SharedParts, conversation: Conversation) -> People:
    return People(conversation.directory, shared.settings.teams, shared.persons, chat=CHAT)


def _why_not_ready(store: SqlStore, evaluators: Mapping[str, Evaluator]) -> str:
    """Return why nothing can be stored, or which clusters are not evaluated; empty if all is well."""
    if (trouble := store.trouble()) is not None:
        return str(trouble)
    late = [name for name, evaluator in evaluators.items() if not evaluator.has_evaluated]
    if late:
        return f"not evaluated yet: {', '.join(late)}"
    stalled = [name for name, evaluator in evaluators.items() if evaluator.stalled_for > STALLED_AFTER]
    return f"evaluation stands still: {', '.join(stalled)}" if stalled else ""


def _server(
    shared: SharedParts,
    pipeline: Pipeline,
    receiver: Receiver,
    inbox: AlertInbox,
    conversation: Conversation | None,
    not_ready: Callable[[], str],
) -> Server:
    senders = senders_of(shared.settings, shared.persons)
    endpoints = Endpoints(
        catalogue=catalogue(shared.settings.language),
        take=pipeline.handle,
        clock=shared.clock,
        metrics=shared.metrics,
        not_ready=not_ready,
        senders=senders,
        routes=wire_alert_routes(
            shared, receiver, inbox, pipeline.handle, senders, inhibit_rules=pipeline.routing.inhibit_rules
        ),
        slack=conversation.receive if conversation else None,
    )
    connections = Connections(shared.metrics)
    return Server(application(endpoints), shared.settings.http.listen, connections, shared.errors)
