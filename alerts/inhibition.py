"""Inhibition: an alert does not notify while another that explains it fires, with Alertmanager's meaning. Pure.

Every alert that inhibits counts, not one of them: when one ends, the others still do.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from alerts.alert import Alert
from alerts.matching import Matcher, matches

SHOWN = 10  # alerts that inhibit another, of which as many are named


@dataclass(frozen=True, slots=True, kw_only=True)
class InhibitRule:
    """While an alert fits `sources`, those that fit `targets` and have the same `equal` labels do not notify.

    A label that both lack is equal. An alert that fits both sides is not inhibited by one of which that is true, too.
    """

    sources: tuple[Matcher, ...]
    targets: tuple[Matcher, ...]
    equal: tuple[str, ...] = ()

    def key_of(self, words: Mapping[str, str]) -> tuple[str, ...]:
        """Return the values that an alert must share."""
        return tuple(words.get(name, "") for name in self.equal)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    alert: Alert
    is_target: bool


class InhibitingAlerts:
    """The firing alerts of one cluster that may inhibit others, by rule and by the values that must be equal."""

    def __init__(self, rules: Sequence[InhibitRule], alerts: Iterable[Alert] = ()) -> None:
        self._rules = rules
        self._sources: dict[tuple[int, tuple[str, ...]], dict[str, _Source]] = {}
        self._places: dict[str, list[tuple[int, tuple[str, ...]]]] = {}  # by Alert.id
        self._known: set[str] = set()  # ids of all that were put, sources or not
        for alert in alerts:
            self.put(alert)

    def put(self, alert: Alert) -> None:
        """Take over the alert as it is now."""
        self.remove(alert.id)
        self._known.add(alert.id)
        if not alert.is_firing:
            return
        words = alert.words
        for number, rule in enumerate(self._rules):
            if matches(rule.sources, words):
                place = number, rule.key_of(words)
                source = _Source(alert=alert, is_target=matches(rule.targets, words))
                self._sources.setdefault(place, {})[alert.id] = source
                self._places.setdefault(alert.id, []).append(place)

    def remove(self, id: str) -> None:
        """Forget the alert with this id."""
        self._known.discard(id)
        for place in self._places.pop(id, ()):
            found = self._sources[place]
            del found[id]
            if not found:
                del self._sources[place]

    def inhibiting(self, alert: Alert, newer: "InhibitingAlerts | None" = None) -> tuple[Alert, ...]:
        """Return alerts that inhibit this one, the first few. `newer`: alerts as they are now, of the same rules."""
        words = alert.words
        found: dict[str, Alert] = {}
        for number, rule in enumerate(self._rules):
            if not matches(rule.targets, words):
                continue
            is_source = matches(rule.sources, words)
            place = number, rule.key_of(words)
            for known in (self,) if newer is None else (newer, self):
                for id, source in known._sources.get(place, {}).items():
                    is_old = newer is not None and known is self and id in newer._known
                    if is_old or (is_source and source.is_target):
                        continue
                    found[id] = source.alert
                    if len(found) >= SHOWN:
                        return tuple(found.values())
        return tuple(found.values())
