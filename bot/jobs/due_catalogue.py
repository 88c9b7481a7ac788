"""The list of all due work. The agenda does it; there is no other timetable."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from alerts.routing import CardRouting
from alerts.store import Store
from bot.jobs.consent_watch import ConsentWatch
from bot.jobs.daily_leases import DailyLeases
from bot.jobs.due_commands import DueCommands
from bot.jobs.due_work import DueWork
from bot.jobs.incident_reminder import IncidentReminder
from bot.jobs.job_removal import JobRemoval
from bot.jobs.lease_reminder import LeaseReminder
from bot.jobs.log_follower import LogFollower
from bot.jobs.owner_reminder import OwnerReminder
from bot.jobs.parent_reminder import ParentReminder
from bot.jobs.settlement_check import SettlementCheck
from bot.live_cluster import LiveCluster
from collectors.facts.clock import Clock
from collectors.facts.redaction import Redactor
from commands.core.command import Handler


def due_works(
    store: Store,
    clusters: Mapping[str, LiveCluster],
    clock: Clock,
    take: Handler,
    *,
    remind_after: timedelta,
    routing: CardRouting,
    daily: DailyLeases | None = None,
    redact: Redactor | None = None,
) -> tuple[DueWork[Any], ...]:
    """Return all due work. `take` runs a command line; `remind_after`: see the setting `incidents.remind_after`. What
    `routing` keeps from notifying is not repeated. `daily` reminds owners of their cordons.
    """
    settlements = SettlementCheck(store, clock)
    return (
        DueCommands(store, clock, take, follow=settlements.follow).work,
        settlements.work,
        LeaseReminder(store, clusters, clock).work,
        *(daily.works if daily is not None else ()),
        OwnerReminder(store, clock).work,
        ConsentWatch(store, clusters).work,
        JobRemoval(store, clusters).work,
        LogFollower(store, clusters, redact=redact or Redactor()).work,
        *IncidentReminder(store, every=remind_after, routing=routing).works,
        *ParentReminder(store, every=remind_after, routing=routing).works,
    )
