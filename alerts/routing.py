"""This file has routes: which channels an alert goes to, walked as Alertmanager walks its tree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from alerts.alert import Alert
from alerts.matching import Matcher, matches


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A node of the tree. `continues`: its later siblings are tried too."""

    matchers: tuple[Matcher, ...] = ()
    channels: tuple[str, ...] = ()
    continues: bool = False
    routes: tuple["Route", ...] = field(default=())


def channels_of(alert: Alert, routes: Sequence[Route], *, default: str) -> tuple[str, ...]:
    """The channels of an alert, each once; the default's when no route claims it.

    Matchers see the alert's labels, and beside them the words of its subject (`team`, `node`, …).
    """
    seen = {**alert.subject.words(), **alert.labels}
    found = dict.fromkeys(channel for channel in _walk(routes, seen, (default,)) if channel)
    return tuple(found) or ((default,) if default else ())


def _walk(routes: Sequence[Route], labels: Mapping[str, str], inherited: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for route in routes:
        if not matches(route.matchers, labels):
            continue
        own = route.channels or inherited
        found += _walk(route.routes, labels, own) or own
        if not route.continues:
            break
    return found
