"""Muting of reminders: in which channels a quiet route or another alert holds them back."""

from collections.abc import Collection
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.incidents.incident import Incident
from alerts.inhibition import InhibitingAlerts
from alerts.lifecycle import AlertState
from alerts.muting import Coverage, held_channels
from alerts.routing import CardRouting
from alerts.silences import Silence
from alerts.store import StoreSnapshot
from commands.incident.card_context import active

LOOK_AGAIN_AT_MUTES = timedelta(minutes=1)  # whether it still is


async def muted_channels(
    incidents: Collection[Incident], snapshot: StoreSnapshot, routing: CardRouting, now: datetime
) -> frozenset[str] | None:
    """Return the channels that do not hear of these incidents of one cluster now; None if no channel does."""
    if not incidents or not routing.may_mute:
        return frozenset()
    cluster = next(iter(incidents)).cluster
    firing = (
        await snapshot.rows(Alert).find(cluster=cluster, state=AlertState.FIRING)
        if routing.inhibit_rules
        else ()
    )
    coverage = Coverage(
        routing=routing,
        silences=tuple(active(await snapshot.rows(Silence).find(cluster=cluster), now)),
        inhibiting=InhibitingAlerts(routing.inhibit_rules, firing),
    )
    members = [member.alert for one in incidents for member in one.firing or one.members]
    alerts = await snapshot.rows(Alert).get_all(members)
    if not alerts:
        return frozenset()
    channels = {channel for one in incidents for channel in one.channels}
    return held_channels((coverage.of(alert, now) for alert in alerts.values()), channels)
