"""Wiring of what receives alerts: for each cluster the recorder that its evaluation has, too."""

from collections.abc import Mapping, Sequence
from functools import partial
from importlib.metadata import version

from alerts.alert_batch import AlertRecorder
from alerts.rules import Rule
from bot.evaluation.cluster_view import ClusterView
from bot.http.alert_endpoints import AlertEndpoints
from bot.http.alertmanager_api import AlertmanagerApi
from bot.http.senders import Sender
from bot.http.server import Routes
from bot.live_cluster import LiveCluster
from bot.receiving.posted_alerts import ReadingOptions
from bot.receiving.receiver import Inlet, Receiver
from bot.shared_parts import SharedParts
from commands.core.command import Handler


def wire_receiver(
    shared: SharedParts,
    clusters: Mapping[str, LiveCluster],
    views: Mapping[str, ClusterView],
    recorders: Mapping[str, AlertRecorder],
) -> Receiver:
    """Return the receiver of the alerts of these clusters."""

    def rules(cluster: str) -> Mapping[str, Rule]:
        return views[cluster].rules if cluster in views else {}

    inlets = {
        name: Inlet(recorder=recorders[name], topology=cluster.topology, rules=partial(rules, name))
        for name, cluster in clusters.items()
    }
    return Receiver(inlets, shared.store, shared.clock, lasts=shared.settings.receive.resolve_timeout)


def wire_alert_routes(
    shared: SharedParts, receiver: Receiver, take: Handler, senders: Sequence[Sender]
) -> tuple[Routes, ...]:
    """Return the HTTP endpoints that feed the receiver, and those that show alerts and silences."""
    receive = shared.settings.receive
    posts = AlertEndpoints(
        receiver=receiver,
        options=ReadingOptions(
            lasts=receive.resolve_timeout,
            drop_labels=frozenset(receive.drop_labels),
            clean=shared.redact.clean,
        ),
        webhook_lasts=receive.repeated_within,
        senders=senders,
        clock=shared.clock,
        metrics=shared.metrics,
    )
    api = AlertmanagerApi(
        store=shared.store,
        take=take,
        senders=senders,
        clusters=[one.name for one in shared.settings.clusters] or [""],
        clock=shared.clock,
        version=version("yardmaster"),
        started=shared.clock.now(),
    )
    return posts, api
