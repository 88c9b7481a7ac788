"""Inhibition: an alert does not notify while another that explains it fires, with Alertmanager's meaning. Pure.

Every alert that inhibits counts, not one of them: when one ends, the others still do.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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


_Place = tuple[
    int, tuple[str, ...], bool
]  # the rule, the values that must be equal, whether it is a target, too


class InhibitingAlerts:
    """The firing alerts of one cluster that may inhibit others, by their places.

    Sources that are targets have places of their own: they inhibit no alert that is both, and there may be many.
    """

    def __init__(self, rules: Sequence[InhibitRule], alerts: Iterable[Alert] = ()) -> None:
        self._rules = rules
        self._sources: dict[_Place, dict[str, Alert]] = {}
        self._places: dict[str, list[_Place]] = {}  # by Alert.id
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
                place = number, rule.key_of(words), matches(rule.targets, words)
                self._sources.setdefault(place, {})[alert.id] = alert
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
            key = rule.key_of(words)
            kinds = (False,) if matches(rule.sources, words) else (False, True)
            for id, source in self._of_places([(number, key, kind) for kind in kinds], newer):
                found[id] = source
                if len(found) >= SHOWN:
                    return tuple(found.values())
        return tuple(found.values())

    def _of_places(
        self, places: Sequence[_Place], newer: "InhibitingAlerts | None"
    ) -> Iterator[tuple[str, Alert]]:
        for place in places:
            if newer is not None:
                yield from newer._sources.get(place, {}).items()
            for id, source in self._sources.get(place, {}).items():
                if newer is None or id not in newer._known:
                    yield id, source
