"""Routes: which channels an alert goes to, as in Alertmanager's routing tree, and when they stay quiet. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from alerts.alert import Alert
from alerts.inhibition import InhibitRule
from alerts.matching import Matcher, matches
from alerts.time_intervals import TimeInterval
from collectors.facts.name_patterns import fits_any


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A node of the routing tree. With `continues`, its later siblings are tried too.

    `to_nobody`: what ends here notifies nobody. `mutes`: it is quiet within these times, `active`: and outside these.
    Times are of this node alone, as in Alertmanager: its children have their own.
    """

    matchers: tuple[Matcher, ...] = ()
    channels: tuple[str, ...] = ()
    continues: bool = False
    routes: tuple["Route", ...] = field(default=())
    to_nobody: bool = False
    mutes: tuple[TimeInterval, ...] = ()
    active: tuple[TimeInterval, ...] = ()

    def quiet(self, now: datetime) -> "Quiet | None":
        """Return what keeps it quiet now; None if nothing does."""
        if muting := [interval for interval in self.mutes if interval.contains(now)]:
            return Quiet(interval=_together(muting, self.mutes), is_within=True)
        if self.active and not any(interval.contains(now) for interval in self.active):
            return Quiet(interval=_together(self.active, self.active), is_within=False)
        return None


def _together(named: Sequence[TimeInterval], intervals: Sequence[TimeInterval]) -> TimeInterval:
    """Return the intervals as one, so that it ends when the last of those that overlap does."""
    periods = tuple(period for interval in intervals for period in interval.periods)
    return TimeInterval(name=", ".join(interval.name for interval in named), periods=periods)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet:
    """The times that keep a route quiet now: it is within them, or outside all in which it is active."""

    interval: TimeInterval
    is_within: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MutingWindow:
    """A window in which alerts that fit the matchers notify nobody, whatever their route."""

    interval: TimeInterval
    matchers: tuple[Matcher, ...]
    clusters: tuple[str, ...] = ("*",)

    def quiet(self, alert: Alert, now: datetime) -> Quiet | None:
        """Return what keeps the alert quiet now; None if the window does not."""
        if not fits_any(alert.cluster, self.clusters):
            return None
        if not matches(self.matchers, alert.words) or not self.interval.contains(now):
            return None
        return Quiet(interval=self.interval, is_within=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CardRouting:
    """Where the alerts of a cluster notify. `default`: the channel of what no route claims; empty for none."""

    routes: tuple[Route, ...] = ()
    default: str = ""
    inhibit_rules: tuple[InhibitRule, ...] = ()
    windows: tuple[MutingWindow, ...] = ()

    @property
    def may_mute(self) -> bool:
        """Whether anything but a silence may keep an alert from notifying for a while."""
        return bool(self.inhibit_rules or self.windows) or any(_has_times(route) for route in self.routes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """One end of an alert's ways through the tree: the routes passed, and the channels there. No route: the default."""

    path: tuple[Route, ...] = ()
    channels: tuple[str, ...] = ()

    def quiet(self, now: datetime) -> Quiet | None:
        """Return what keeps its channels quiet now; None if nothing does."""
        return self.path[-1].quiet(now) if self.path else None


def routed(alert: Alert, routes: Sequence[Route], *, default: str) -> tuple[Routed, ...]:
    """Return where the alert's ways through the tree end; without a matching route at the default.

    Matchers see the alert's labels and the fields of its subject (`team`, `node`, …).
    """
    inherited = (default,) if default else ()
    found = _walk(routes, alert.words, Routed(channels=inherited))
    return tuple(found) or ((Routed(channels=inherited),) if default else ())


def channels_of(alert: Alert, routes: Sequence[Route], *, default: str) -> tuple[str, ...]:
    """Return the alert's channels without duplicates, or the default if no route matches."""
    ends = routed(alert, routes, default=default)
    return tuple(dict.fromkeys(channel for end in ends for channel in end.channels))


def _walk(routes: Sequence[Route], words: Mapping[str, str], above: Routed) -> list[Routed]:
    found: list[Routed] = []
    for route in routes:
        if not matches(route.matchers, words):
            continue
        channels = () if route.to_nobody else route.channels or above.channels
        own = Routed(path=(*above.path, route), channels=channels)
        found += _walk(route.routes, words, own) or [own]
        if not route.continues:
            break
    return found


def _has_times(route: Route) -> bool:
    return bool(route.mutes or route.active) or any(_has_times(inner) for inner in route.routes)
