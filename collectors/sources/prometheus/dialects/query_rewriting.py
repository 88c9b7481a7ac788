"""A pack's expression for what a Prometheus really holds: each selector gets the labels that the pack names.

The labels are given to the selector itself, so that the rest of an expression stays as it is written: its lists, its
joins, and the labels of its result, which an alert is known by. A label of the result is therefore the same in every
dialect.
"""

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from collectors.facts.labels import Labels
from collectors.facts.promql.selectors import Selector, possible_labels, with_selectors
from collectors.facts.promql.tree import LabelMatcher
from collectors.sources.prometheus.dialects.node_names import NodeNames

AUXILIARY = "yardmaster_from_"  # begins the labels that a rewritten expression adds; no result keeps them
_FIRST = ";*([^;]*).*"  # of joined values
_DEVICE = re.compile(r"(?:nvidia|card)(\d+)")  # where an exporter gives no index
_LINEAR = ("", "avg_over_time", "max_over_time", "min_over_time", "last_over_time", "rate", "increase")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSource:
    """Where a label of the packs comes from: the first of `names` that a series has.

    `never` is a pattern of what the last of them does not mean, such as the exporter's own pod. `beside` is a label
    of the packs without which this one means nothing, such as the pod of a namespace. `named` are values to replace:
    each with the pattern of those that stand for it.
    """

    label: str
    names: tuple[str, ...]
    never: str = ""
    beside: str = ""
    named: tuple[tuple[str, str], ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether the series have the label as the packs name it."""
        return self.names == (self.label,) and not (self.never or self.beside or self.named)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesGroup:
    """Series with the same sources of labels. `matchers` select them among those of their exporters."""

    labels: tuple[LabelSource, ...] = ()
    matchers: tuple[LabelMatcher, ...] = ()

    def only(self, needed: Collection[str]) -> "SeriesGroup":
        """Return the group with the labels that are needed."""
        labels = {one.label for one in self.labels if one.label in needed}
        labels |= {one.beside for one in self.labels if one.label in needed}
        return replace(self, labels=tuple(one for one in self.labels if one.label in labels))

    def source_of(self, label: str) -> LabelSource | None:
        found = (one for one in self.labels if one.label == label and not one.is_plain)
        return next(found, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricName:
    """A metric's name in a dialect, and what its values are multiplied with to be those of the packs.

    `where` are labels that its series must have.
    """

    name: str
    factor: float = 1
    where: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricForms:
    """How one metric of the packs is there: its names, and the groups of its series.

    `replaced` are matchers for those of the packs on a label, such as `job`. `copies` are the labels in which series
    differ that are there twice: they count once.
    """

    names: tuple[MetricName, ...]
    groups: tuple[SeriesGroup, ...] = (SeriesGroup(),)
    replaced: tuple[tuple[str, tuple[LabelMatcher, ...]], ...] = ()
    copies: tuple[str, ...] = ()

    def is_plain(self, metric: str) -> bool:
        """Whether the metric is as the packs name it."""
        sources = (one for group in self.groups for one in group.labels)
        return (
            self.names == (MetricName(name=metric),)
            and not self.copies
            and all(one.is_plain for one in sources)
        )


FormsOf = Callable[[str], MetricForms | None]
OfCluster = Callable[[str], str]


def rewritten(expr: str, forms: FormsOf, of_cluster: OfCluster = str) -> str:
    """Return the expression for these forms. `forms` gives those of a metric, None where it is as the packs name it.

    `of_cluster` limits an expression to the series of the cluster. It is given each selector by itself: the whole may
    be deeper in the end than a reader follows, with a call for each node that has another name.
    """

    def in_its_forms(selector: Selector) -> str:
        found = ""
        if (form := forms(selector.metric)) is not None:
            needed = possible_labels(expr) if selector.is_aggregated else None
            found = _in_forms(selector, form, needed, of_cluster)
        # Where no form of it can be asked for, its own name has no series, and the expression stays valid.
        return found or of_cluster(expr[selector.start : selector.end])

    return with_selectors(expr, in_its_forms)


def _in_forms(
    selector: Selector, forms: MetricForms, needed: Collection[str] | None, of_cluster: OfCluster
) -> str:
    """Return the selector for every name and group. `needed` are the labels that matter; None: all of them."""
    groups = forms.groups if needed is None else [group.only(needed) for group in forms.groups]
    if len({group.labels for group in groups}) == 1:  # what makes them differ does not matter here
        groups = [replace(groups[0], matchers=())]
    found = [
        part
        for name in forms.names
        for group in groups
        if (part := _in_group(selector, name, group, forms, of_cluster))
    ]
    whole = " or ".join(found)
    if forms.copies and found and not selector.function.startswith("absent"):
        added = {
            f"{AUXILIARY}{kind}{one.label}"
            for group in groups
            for one in group.labels
            for kind in ("", "old_")
        }
        return f"max without ({', '.join((*forms.copies, *sorted(added)))}) ({whole})"
    return f"({whole})" if len(found) > 1 else whole


def _in_group(
    selector: Selector, name: MetricName, group: SeriesGroup, forms: MetricForms, of_cluster: OfCluster
) -> str:
    inside: list[LabelMatcher] = []
    later: list[LabelMatcher] = []
    for matcher in _replaced(selector.matchers, forms):
        source = group.source_of(matcher.label)
        if source is None:
            inside.append(matcher)
        elif len(source.names) == 1 and not (source.never or source.beside or source.named):
            inside.append(LabelMatcher(source.names[0], matcher.operator, matcher.value))
        else:
            later.append(matcher)
    where = (LabelMatcher(label, "=", json.dumps(value)) for label, value in name.where)
    text = of_cluster(selector.with_(name.name, (*inside, *where, *group.matchers)))
    if name.factor != 1 and selector.function not in _LINEAR:
        return ""
    if not selector.function.startswith("absent"):
        for source in group.labels:
            text = _given(text, source)
        for number, matcher in enumerate(later):
            text = _filtered(text, matcher, f"{AUXILIARY}match_{number}")
    return text if name.factor == 1 else f"({text} * {name.factor:g})"


def _replaced(matchers: Sequence[LabelMatcher], forms: MetricForms) -> list[LabelMatcher]:
    instead = dict(forms.replaced)
    found = [one for one in matchers if one.label not in instead]
    for label in dict.fromkeys(one.label for one in matchers if one.label in instead):
        found += instead[label]
    return found


def _given(text: str, source: LabelSource) -> str:
    """Give the label its value. What it was stays in an auxiliary label, so that no two series become the same."""
    if source.is_plain:
        return text
    joined = AUXILIARY + source.label
    names = ", ".join(f'"{name}"' for name in source.names)
    if source.label not in source.names:
        text = f'label_replace({text}, "{AUXILIARY}old_{source.label}", "$1", "{source.label}", "(.+)")'
    text = f'label_join({text}, "{joined}", ";", {names})'
    if source.never:
        never = json.dumps(f";*({source.never})")
        text = f'label_replace({text}, "{joined}", "", "{joined}", {never})'
    text = f'label_replace({text}, "{source.label}", "$1", "{joined}", "{_FIRST}")'
    for value, pattern in source.named:
        text = f'label_replace({text}, "{source.label}", {json.dumps(value)}, "{source.label}", {json.dumps(pattern)})'
    return f'label_replace({text}, "{source.label}", "", "{source.beside}", "")' if source.beside else text


def _filtered(text: str, matcher: LabelMatcher, mark: str) -> str:
    """Return the part of the result that a matcher would select if it were a label of the series."""
    keeps = matcher.operator in ("=", "=~")
    word = "and" if keeps else "unless"
    if not matcher.text:  # a result without labels has this one empty too
        return f"({text} {word} on ({matcher.label}) vector(1))"
    pattern = matcher.text if "~" in matcher.operator else re.escape(matcher.text)
    marked = f'label_replace({text}, "{mark}", "1", "{matcher.label}", {json.dumps(pattern)})'
    return f'({marked} {word} on ({mark}) label_replace(vector(1), "{mark}", "1", "", ""))'


class LabelRestorer:
    """Restores the labels of one result."""

    def __init__(self, node_labels: Collection[str], nodes: NodeNames | None) -> None:
        self._node_labels = node_labels
        self._nodes = nodes
        self._named: dict[str, str] = {}

    def __call__(self, labels: Labels) -> Labels:
        added = [name for name, _ in labels.pairs if name.startswith(AUXILIARY)]
        if added:
            labels = labels.without(*added)
        if device := _DEVICE.fullmatch(labels.get("gpu", "")):
            labels = labels.with_(gpu=device[1])
        for name in self._node_labels:
            value = labels.get(name, "")
            if value and self._nodes is not None:
                node = self._named.get(value)
                if node is None:
                    node = self._named[value] = self._nodes.of(value) or value
                if node != value:
                    labels = labels.with_(**{name: node})
        return labels
