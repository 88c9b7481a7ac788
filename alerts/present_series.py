"""The series that a presence query returned, looked up for many alerts: a large cluster has 40,000. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from collectors.facts.labels import Labels

LabelNames = tuple[str, ...]


class PresentSeries:
    """Series by what alerts are looked up with. Each index is made when it is first needed."""

    def __init__(self, series: Sequence[Labels]) -> None:
        self._series = series
        self._values: dict[tuple[LabelNames, LabelNames], frozenset[LabelNames]] = {}

    def agrees(self, labels: Labels) -> bool:
        """Whether one of the series agrees with these labels: every label that both have is equal."""
        for names, alike in self._by_names.items():
            shared = tuple(name for name in names if name in labels)
            if tuple(labels[name] for name in shared) in self._values_of(names, shared, alike):
                return True
        return False

    def near(self, words: Iterable[str]) -> Sequence[Labels]:
        """Return the series of which some label has one of these values."""
        return tuple(dict.fromkeys(labels for word in words for labels in self._by_value.get(word, ())))

    def _values_of(
        self, names: LabelNames, shared: LabelNames, alike: Sequence[Labels]
    ) -> frozenset[LabelNames]:
        found = self._values.get((names, shared))
        if found is None:
            found = frozenset(tuple(labels[name] for name in shared) for labels in alike)
            self._values[names, shared] = found
        return found

    @cached_property
    def _by_names(self) -> Mapping[LabelNames, Sequence[Labels]]:
        found: dict[LabelNames, list[Labels]] = {}
        for labels in self._series:
            found.setdefault(tuple(name for name, _ in labels.pairs), []).append(labels)
        return found

    @cached_property
    def _by_value(self) -> Mapping[str, Sequence[Labels]]:
        found: dict[str, list[Labels]] = {}
        for labels in self._series:
            for _, value in labels.pairs:
                found.setdefault(value, []).append(labels)
        return found
