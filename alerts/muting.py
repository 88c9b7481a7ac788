"""Muting: what keeps an alert from notifying now, and where it does. Pure: what covers it is passed in."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from alerts.alert import Alert
from alerts.inhibition import InhibitingAlerts
from alerts.routing import CardRouting, Quiet, Routed, routed
from alerts.silences import Silence


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """Whether an alert notifies now: where it goes, and every reason why it does not notify there."""

    ends: tuple[Routed, ...] = ()
    quiet: tuple[tuple[Routed, Quiet], ...] = ()  # the ends whose channels are quiet at this time
    silences: tuple[Silence, ...] = ()
    inhibiting: tuple[Alert, ...] = ()

    @property
    def is_held(self) -> bool:
        """Whether it notifies nobody, wherever it goes."""
        return bool(self.silences or self.inhibiting)

    @property
    def open(self) -> frozenset[str]:
        """The channels that are notified now."""
        if self.is_held:
            return frozenset()
        shut = {id(end) for end, _ in self.quiet}
        return frozenset(channel for end in self.ends if id(end) not in shut for channel in end.channels)

    @property
    def shut(self) -> frozenset[str]:
        """The channels that a time interval keeps quiet, and in which no other route of the alert is open."""
        return frozenset(channel for end, _ in self.quiet for channel in end.channels) - self.open


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What may keep alerts of one cluster from notifying. `newer`: of a batch that is not stored yet."""

    routing: CardRouting = field(default_factory=CardRouting)
    silences: tuple[Silence, ...] = ()
    inhibiting: InhibitingAlerts = field(default_factory=lambda: InhibitingAlerts(()))
    newer: InhibitingAlerts | None = None

    def of(self, alert: Alert, now: datetime) -> Notification:
        """Return whether the alert notifies now, and why not."""
        ends = routed(alert, self.routing.routes, default=self.routing.default)
        windows = (one.quiet(alert, now) for one in self.routing.windows)
        in_window = next((one for one in windows if one is not None), None)
        quiet = ((end, in_window or end.quiet(now)) for end in ends)
        return Notification(
            ends=ends,
            quiet=tuple((end, why) for end, why in quiet if why is not None),
            silences=tuple(one for one in self.silences if one.covers(alert.labels, now)),
            inhibiting=self.inhibiting.inhibiting(alert, self.newer),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldBack:
    """What notifies nobody now: whole incidents, and of others the channels that are quiet."""

    incidents: frozenset[str] = frozenset()
    channels: dict[str, frozenset[str]] = field(default_factory=dict)  # by incident


def held_channels(notifications: Iterable[Notification], channels: Iterable[str]) -> frozenset[str] | None:
    """Return which of an incident's channels are not notified of its alerts now; None if none at all is.

    A channel is notified as soon as one alert may notify there. One to which none of them goes keeps what it has.
    """
    notified: set[str] = set()
    quiet: set[str] = set()
    is_held = True
    for one in notifications:
        if not one.is_held:
            is_held = False
            notified |= one.open
            quiet |= one.shut
    held = frozenset(quiet - notified)
    return None if is_held or (held and held.issuperset(channels)) else held
