"""Wiring of the channels: delivery to all of them, and the inbox for what people write in one."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from uuid import uuid4

from alerts.cards.channel_id import kind_and_name
from alerts.cards.text import Text
from alerts.rules import Rule
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext
from bot.channels.form_names import Suggest
from bot.channels.home_tabs import HomeTabs
from bot.channels.inbox import Inbox, InboxDependencies
from bot.channels.open_channel import Conversation, OpenChannel
from bot.charts.chart_maker import ChartMaker
from bot.charts.chart_renderer import ChartRenderer, can_render
from bot.chat_accounts import People
from bot.delivery.fallback import FallbackOptions
from bot.delivery.measured_notifier import MeasuredNotifier
from bot.delivery.notifier_protocol import NewMessage
from bot.delivery.reconciler import Reconciler
from bot.evaluation.cluster_view import ClusterView
from bot.jobs.culprit_finder import CulpritFinder
from bot.jobs.store_watch import StoreWatch
from bot.live_cluster import LiveCluster
from bot.settings.mapping import defaults_of, owners_of
from bot.shared_parts import SharedParts
from bot.supervise import Work
from collectors.facts.queries import Query
from collectors.trainings.training import Training
from commands.command_catalogue import CATALOGUE
from commands.core.command import Handler
from commands.core.matching.interpretation import changes_something
from commands.core.testable_nodes import node_tests


def conversation_of(opened: Mapping[str, OpenChannel]) -> Conversation | None:
    """Return how people write to us. One kind of channel may have it: teams are of one chat's people."""
    found = [one.conversation for one in opened.values() if one.conversation is not None]
    if len(found) > 1:
        raise ValueError("people can write in one kind of channel only")
    return found[0] if found else None


def wire_delivery(
    shared: SharedParts,
    opened: Mapping[str, OpenChannel],
    clusters: Mapping[str, LiveCluster],
    views: Mapping[str, ClusterView],
    rules: Callable[[], Mapping[str, Rule]],
) -> tuple[Reconciler, dict[str, Work]]:
    """Return the reconciler of all channels, which listens to the store, and the parts of delivery."""
    notifiers = {
        kind: MeasuredNotifier(one.notifier, shared.metrics, integration=kind) for kind, one in opened.items()
    }
    finder = CulpritFinder(
        shared.store,
        clusters,
        rules,
        shared.clock,
        on_change=lambda cluster: reconciler.mark_view_change(cluster),
        errors=shared.errors,
    )
    shown = replace(_card_context(shared, opened, clusters, views, rules), culprits=finder.of)
    reconciler = Reconciler(
        shared.store,
        notifiers,
        CardCatalogue(shown),
        clock=shared.clock,
        fallback=FallbackOptions(
            channels=shared.settings.fallback.channels, after=shared.settings.fallback.after
        ),
        errors=shared.errors,
    )
    shared.store.listen(reconciler.wake)
    shared.store.listen(finder.wake)
    return reconciler, {"delivery": reconciler.run, "culprits": finder.run}


def wire_charts(
    shared: SharedParts,
    opened: Mapping[str, OpenChannel],
    clusters: Mapping[str, LiveCluster],
    rules: Callable[[], Mapping[str, Rule]],
) -> dict[str, Work]:
    """Return the part that puts charts on cards; none without matplotlib, or without a channel that takes pictures."""
    notifiers = {kind: one.notifier for kind, one in opened.items()}
    if not can_render() or not any(one.capabilities.images for one in notifiers.values()):
        return {}
    maker = ChartMaker(
        shared.store,
        clusters,
        notifiers,
        rules,
        shared.clock,
        renderer=ChartRenderer(),
        errors=shared.errors,
    )
    shared.store.listen(maker.wake)
    return {"charts": maker.run}


def wire_conversation(
    shared: SharedParts,
    conversation: Conversation,
    people: People,
    *,
    take: Handler,
    reconciler: Reconciler,
    suggest: Suggest,
) -> dict[str, Work]:
    """Return the parts that hear and answer people."""
    conversation.listen_suggestions(suggest)
    inbox = Inbox(
        InboxDependencies(
            people=people,
            store=shared.store,
            take=take,
            responder=conversation.responder,
            clock=shared.clock,
            on_interaction=reconciler.retry_now,
            changes=partial(changes_something, catalogue=CATALOGUE),
        )
    )
    shared.store.listen(inbox.wake)
    conversation.listen_connected(reconciler.retry_now)
    parts = {**conversation.parts, "inbox": inbox.run}
    if conversation.home is not None:
        clusters = [one.name for one in shared.settings.clusters]
        tabs = HomeTabs(conversation.home, people, take, shared.clock, clusters)
        shared.store.listen(tabs.wake)
        parts["home tabs"] = tabs.run
    return parts


def wire_store_watch(shared: SharedParts, opened: Mapping[str, OpenChannel], channel: str) -> dict[str, Work]:
    """Return the part that tells the channel, without the store, when nothing can be stored."""
    kind, name = kind_and_name(channel)

    async def tell(words: Text) -> None:
        if kind in opened:
            await opened[kind].notifier.post(name, NewMessage(words, nonce=uuid4().hex))

    return {"store": StoreWatch(shared.store.trouble, tell).run}


def _card_context(
    shared: SharedParts,
    opened: Mapping[str, OpenChannel],
    clusters: Mapping[str, LiveCluster],
    views: Mapping[str, ClusterView],
    rules: Callable[[], Mapping[str, Rule]],
) -> CardContext:
    settings = shared.settings
    defaults = defaults_of(settings, shared.persons)
    can = {kind: one.notifier.capabilities for kind, one in opened.items()}

    def training(cluster: str, id: str) -> Training | None:
        found = clusters.get(cluster)
        return found.training(id) if found else None

    def blind(cluster: str, queries: Iterable[Query]) -> Mapping[str, str]:
        view = views.get(cluster)
        return view.blind_sources(queries) if view else {}

    def wants_facts(channel: str) -> bool:
        kind, _ = kind_and_name(channel)
        return kind in can and can[kind].facts

    def has_buttons(channel: str) -> bool:
        kind, _ = kind_and_name(channel)
        return kind not in can or can[kind].buttons

    def has_menus(channel: str) -> bool:
        kind, _ = kind_and_name(channel)
        return kind not in can or can[kind].menus

    return CardContext(
        rules=rules,
        training=training,
        cluster=clusters.get,
        blind=blind,
        people=owners_of(settings, shared.persons),
        links={one.name: one.links for one in settings.clusters},
        runbooks=settings.runbooks,
        tests=node_tests(defaults.acceptance, defaults.node_jobs),
        reopens_within=settings.incidents.reopens_within,
        many_clusters=len(clusters) > 1,
        wants_facts=wants_facts,
        has_buttons=has_buttons,
        has_menus=has_menus,
    )
