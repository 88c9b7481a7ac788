"""Notifications of alerts: whom they reach now, and why not others, by the store and the routes of the settings."""

from collections.abc import Mapping, Sequence

from alerts.alert import Alert
from alerts.incidents.incident import Incident
from alerts.incidents.member_rows import whole_ones
from alerts.inhibition import InhibitingAlerts
from alerts.muting import Coverage
from alerts.silences import Silence
from alerts.store import StoreSnapshot
from collectors.facts.sentences import Sentence
from commands.alert.notification_text import notification_text
from commands.core.context import CommandContext


async def notifications(
    alerts: Sequence[Alert], standing: Sequence[Alert], snapshot: StoreSnapshot, context: CommandContext
) -> Mapping[str, list[Sentence]]:
    """Return what is said of each alert, by its id. `standing`: all alerts of the cluster, which may inhibit these."""
    silences = await snapshot.rows(Silence).find(cluster=context.cluster.name)
    homes = await _homes(alerts, snapshot, context)
    coverage = Coverage(
        routing=context.routing,
        silences=tuple(silences),
        inhibiting=InhibitingAlerts(context.routing.inhibit_rules, standing),
    )
    said: dict[str, list[Sentence]] = {}
    for alert in alerts:
        home = homes.get(alert.id)
        whole = [one for one in silences if home is not None and one.covers_incident(home, context.now)]
        found = coverage.of(alert, context.now)
        said[alert.id] = notification_text(alert, home, found, whole, context.now)
    return said


async def _homes(
    alerts: Sequence[Alert], snapshot: StoreSnapshot, context: CommandContext
) -> Mapping[str, Incident]:
    """Return the open incidents that have these alerts, by the alert's id. A twin is in that of ours."""
    names = {one.id for one in alerts} | {one.twin for one in alerts if one.twin}
    stored = await snapshot.rows(Incident).find(cluster=context.cluster.name, state="open") if alerts else ()
    has_any = [one for one in stored if one.totals is not None or any(m.alert in names for m in one.members)]
    homes = {
        member.alert: incident
        for incident in await whole_ones(has_any, snapshot)
        for member in incident.members
        if member.alert in names
    }
    found = ((one.id, homes.get(one.id) or homes.get(one.twin)) for one in alerts)
    return {id: home for id, home in found if home is not None}
