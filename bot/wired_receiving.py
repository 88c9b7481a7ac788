"""Wiring of what receives alerts: for each cluster the recorder that its evaluation has, too."""

from collections.abc import Mapping, Sequence
from functools import partial
from importlib.metadata import version

from alerts.inhibition import InhibitRule
from alerts.rules import Rule
from bot.evaluation.cluster_view import ClusterView
from bot.evaluation.recorder import IncidentRecorder
from bot.http.alert_endpoints import AlertEndpoints
from bot.http.alertmanager_api import AlertmanagerApi
from bot.http.senders import Sender
from bot.http.server import Routes
from bot.live_cluster import LiveCluster
from bot.receiving.alert_inbox import AlertInbox
from bot.receiving.alertmanager_client import AlertmanagerClient
from bot.receiving.posted_alerts import ReadingOptions
from bot.receiving.receiver import Inlet, Receiver
from bot.receiving.shared_silences import SharedSilences
from bot.settings.section import login_header
from bot.shared_parts import SharedParts
from bot.supervise import Work
from commands.core.command import Handler


def wire_receiver(
    shared: SharedParts,
    clusters: Mapping[str, LiveCluster],
    views: Mapping[str, ClusterView],
    recorders: Mapping[str, IncidentRecorder],
) -> Receiver:
    """Return the receiver of the alerts of these clusters."""

    def rules(cluster: str) -> Mapping[str, Rule]:
        return views[cluster].rules if cluster in views else {}

    inlets = {
        name: Inlet(
            recorder=recorders[name],
            topology=cluster.topology,
            rules=partial(rules, name),
            lacks_cards=recorders[name].lacks_cards if name not in views else lambda: False,
        )
        for name, cluster in clusters.items()
    }
    receive = shared.settings.receive
    return Receiver(
        inlets,
        shared.store,
        shared.clock,
        lasts=receive.resolve_timeout,
        default=receive.default_cluster,
        external=frozenset(receive.external_labels),
    )


def wire_shared_silences(shared: SharedParts, clusters: Sequence[str]) -> dict[str, Work]:
    """Return what shares silences with an Alertmanager, if the settings have one."""
    settings = shared.settings.receive.alertmanager
    if settings is None:
        return {}
    silences = SharedSilences(
        client=AlertmanagerClient(
            url=settings.url, headers=login_header(settings.authorization, settings.basic_auth)
        ),
        cluster=settings.cluster or clusters[0],
        store=shared.store,
        clock=shared.clock,
        writes=settings.silences == "write",
    )
    shared.store.listen(silences.wake)
    return {"shared silences": silences.run}


def wire_alert_routes(
    shared: SharedParts,
    receiver: Receiver,
    inbox: AlertInbox,
    take: Handler,
    senders: Sequence[Sender],
    *,
    inhibit_rules: Sequence[InhibitRule],
) -> tuple[Routes, ...]:
    """Return the HTTP endpoints that feed the receiver, and those that show alerts and silences."""
    receive = shared.settings.receive
    posts = AlertEndpoints(
        inbox=inbox,
        options=ReadingOptions(
            lasts=receive.resolve_timeout,
            drop_labels=frozenset(receive.drop_labels),
            clean=shared.redact.remembering(),
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
        ends_at=receiver.end_of,
        settled=inbox.settled,
        inhibit_rules=inhibit_rules,
    )
    return posts, api
