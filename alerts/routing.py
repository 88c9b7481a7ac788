"""Routes: which channels an alert goes to, evaluated as in Alertmanager's routing tree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from alerts.alert import Alert
from alerts.matching import Matcher, matches


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A node of the routing tree. With `continues`, its later siblings are tried too."""

    matchers: tuple[Matcher, ...] = ()
    channels: tuple[str, ...] = ()
    continues: bool = False
    routes: tuple["Route", ...] = field(default=())


def channels_of(alert: Alert, routes: Sequence[Route], *, default: str) -> tuple[str, ...]:
    """Return the alert's channels without duplicates, or the default if no route matches.

    Matchers see the alert's labels and the fields of its subject (`team`, `node`, …).
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
