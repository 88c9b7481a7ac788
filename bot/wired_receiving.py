"""Wiring of what receives alerts: for each cluster the recorder that its evaluation has, too."""

from collections.abc import Mapping
from functools import partial

from alerts.alert_batch import AlertRecorder
from alerts.rules import Rule
from bot.evaluation.cluster_view import ClusterView
from bot.http.alert_endpoints import AlertEndpoints
from bot.http.senders import Sender
from bot.live_cluster import LiveCluster
from bot.receiving.posted_alerts import ReadingOptions
from bot.receiving.receiver import Inlet, Receiver
from bot.shared_parts import SharedParts


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


def wire_alert_endpoints(
    shared: SharedParts, receiver: Receiver, senders: tuple[Sender, ...]
) -> AlertEndpoints:
    """Return the HTTP endpoints that feed the receiver."""
    receive = shared.settings.receive
    return AlertEndpoints(
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
