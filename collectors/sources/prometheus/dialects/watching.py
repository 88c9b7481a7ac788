"""The dialects of one Prometheus: looked up before the first query, and again when its series change."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, QueryResult, Sample, Seen, Series
from collectors.sources.prometheus.dialects.choosing import INSTANCE, Dialect, Overrides, choose
from collectors.sources.prometheus.dialects.families import FAMILIES, Family, Role
from collectors.sources.prometheus.dialects.node_names import NodeNames
from collectors.sources.prometheus.dialects.rewriting import AUXILIARY, MetricForms, MetricName, rewritten
from collectors.sources.prometheus.dialects.selectors import selectors

CHECK_EVERY = (
    60.0  # seconds: whether the labels are still the same; with alerts standing, at each of their moments
)
LOOK_EVERY = 2 * 3600.0  # seconds: their values are looked at again
KEPT_FOR = 2 * 3600.0  # seconds: a window may still hold series in the dialect of before
_MOST_SERIES = 2_000  # looked at; of more, two of each target
_LABEL = AUXILIARY + "label"

Ask = Callable[[str, datetime], Awaitable[QueryResult]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A query as this Prometheus can answer it. `node_labels` are the labels of its result that name nodes."""

    expr: str
    presence: str | None
    node_labels: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Look:
    """What was found of a family, by the loop's clock."""

    dialect: Dialect = field(default_factory=Dialect)
    names: frozenset[str] = frozenset()  # of metrics with an alias that are there
    signature: frozenset[tuple[str, str]] = frozenset()  # the labels that each job has
    has_nodes: bool = False  # whether the cluster's nodes were known
    looked: float = 0.0
    checked: float = 0.0
    checked_at: datetime | None = None  # the moment that the check was as of
    series: list[tuple[float, tuple[Labels, ...]]] = field(default_factory=list)


class Dialects:
    """Rewrites the queries of packs to the labels and names that are there, and their results back.

    `ask` queries the server. `overrides` are the labels of the settings, by family.
    """

    def __init__(
        self,
        ask: Ask,
        *,
        overrides: Mapping[str, Overrides] | None = None,
        families: Sequence[Family] = FAMILIES,
    ) -> None:
        self._ask = ask
        self._overrides = overrides or {}
        self._families = families
        self._looks: dict[str, _Look] = {}
        self._locks = {family.name: asyncio.Lock() for family in families}
        self.nodes: NodeNames | None = None

    async def prepare(self, query: PromQLQuery, *, at: datetime, force: bool = False) -> Prepared | Blind:
        """Return the query in the dialect of its series, as of now; Blind when their node is not known."""
        texts = [query.expr, *([query.presence] if query.presence is not None else [])]
        metrics = {selector.metric for text in texts for selector in selectors(text)}
        families = [one for one in self._families if any(one.has(metric) for metric in metrics)]
        for family in families:
            blind = await self._follow(family, at, must_check=force or query.presence is not None)
            if blind is not None:
                return blind
            if problem := self._problem(family):
                return Blind(source="prometheus", at=at, reason=problem)
        return Prepared(
            expr=rewritten(query.expr, self._forms),
            presence=None if query.presence is None else rewritten(query.presence, self._forms),
            node_labels=frozenset(one.roles[Role.NODE].label for one in families if one.is_on_node),
        )

    def restored(self, found: Seen, prepared: Prepared) -> Seen:
        """Return the result with the names of nodes, and without what the rewriting added.

        Where two samples become the same, such as those of an exporter's pod and of its successor, the larger is kept.
        """
        restored = _Restoring(prepared.node_labels, self.nodes)
        samples: dict[Labels, Sample] = {}
        for sample in found.samples:
            labels = restored(sample.labels)
            other = samples.get(labels)
            if other is None or sample.value > other.value:
                samples[labels] = replace(sample, labels=labels)
        present = found.present and (restored(one) for one in found.present)
        return replace(
            found,
            samples=tuple(samples.values()),
            present=None if present is None else tuple(dict.fromkeys(present)),
            unread=tuple(restored(labels) for labels in found.unread),
        )

    def restored_series(self, found: Sequence[Series], prepared: Prepared) -> tuple[Series, ...]:
        """Return the series of a range likewise; of those that become the same, the later points are kept."""
        restored = _Restoring(prepared.node_labels, self.nodes)
        points: dict[Labels, dict[float, float]] = {}
        for series in found:
            labels = restored(series.labels)
            points.setdefault(labels, {}).update(series.points)
        return tuple(
            Series(labels=labels, points=tuple(sorted(some.items()))) for labels, some in points.items()
        )

    def is_unnamed(self, found: Seen, prepared: Prepared) -> bool:
        """Whether a sample lacks the label of the node that others of the result, or the query, have."""
        asked = [name for name in prepared.node_labels if name in prepared.expr]
        return any(name not in sample.labels for sample in found.samples for name in asked)

    def described(self) -> list[str]:
        """Return a line for each exporter that was needed and has series: which labels name what."""
        return [
            f"{name}: " + ", ".join(_described(role, names) for role, names in look.dialect.labels.items())
            for name, look in self._looks.items()
            if look.series
        ]

    def _problem(self, family: Family) -> str:
        look = self._looks[family.name]
        if look.dialect.problem:
            return look.dialect.problem
        waits = family.is_on_node and self.nodes is not None and not look.has_nodes
        label = family.roles[Role.NODE].label
        if waits and any(group.source_of(label) for group in look.dialect.groups):
            return (
                f"the nodes of {family.name}'s series are not known before the cluster's objects are listed"
            )
        return ""

    def _forms(self, metric: str) -> MetricForms | None:
        family = next((one for one in self._families if one.has(metric)), None)
        look = self._looks.get(family.name) if family is not None else None
        if family is None or look is None:
            return None
        there = [one for one in family.aliases.get(metric, ()) if one.name in look.names]
        own = [MetricName(name=metric)] if metric in look.names or not there else []
        names = (*own, *(MetricName(name=one.name, factor=one.factor) for one in there))
        if names == (MetricName(name=metric),) and all(
            one.is_plain for group in look.dialect.groups for one in group.labels
        ):
            return None
        return MetricForms(names=names, groups=look.dialect.groups)

    async def _follow(self, family: Family, at: datetime, *, must_check: bool) -> Blind | None:
        """Look the family up if it was not yet, or if its series may have changed."""
        async with self._locks[family.name]:
            now = asyncio.get_running_loop().time()
            look = self._looks.get(family.name)
            if look is None:
                return await self._look_up(family, at, now)
            knows_more = self.nodes is not None and self.nodes.is_known and not look.has_nodes
            if not knows_more and now - look.looked < LOOK_EVERY:
                is_old = look.checked_at is not None and at <= look.checked_at  # asked for, or a backfill
                if is_old or not (must_check or now - look.checked >= CHECK_EVERY):
                    return None
                found = await self._ask(_signature_query(family), at)
                look.checked, look.checked_at = now, at
                if isinstance(found, Blind) or _signature(found) == look.signature:
                    return None
            await self._look_up(family, at, now)
            return None

    async def _look_up(self, family: Family, at: datetime, now: float) -> Blind | None:
        """Find out which labels and names the family's series have; what was found before stays if that fails."""
        names = await self._ask(_names_query(family), at)
        signature = await self._ask(_signature_query(family), at)
        if isinstance(names, Blind):
            return names
        if isinstance(signature, Blind):
            return signature
        probe = _any_of(family.probed)
        total = sum(one.value for one in names.samples if one.labels.get("__name__") in family.probed)
        sampled = probe if total <= _MOST_SERIES else f"topk by (job, {INSTANCE}) (2, {probe})"
        found = await self._ask(sampled, at) if total else None
        if isinstance(found, Blind):
            return found
        look = self._looks.setdefault(family.name, _Look())
        kept = [(since, series) for since, series in look.series if now - since < KEPT_FOR]
        series = tuple(dict.fromkeys(one.labels for one in found.samples)) if found is not None else ()
        look.series = [*kept[-1:], *([(now, series)] if series else [])]
        look.names = frozenset(one.labels["__name__"] for one in names.samples)
        look.signature = _signature(signature)
        look.looked = look.checked = now
        look.checked_at = at
        look.has_nodes = self.nodes is not None and self.nodes.is_known
        look.dialect = choose(
            family,
            tuple(dict.fromkeys(labels for _, some in look.series for labels in some)),
            nodes=self.nodes,
            overrides=self._overrides.get(family.name),
        )
        return None


def _described(role: Role, names: Sequence[str]) -> str:
    return f"{role} from " + " or ".join(f"`{name}`" for name in names)


class _Restoring:
    """Restores the labels of one result."""

    def __init__(self, node_labels: Collection[str], nodes: NodeNames | None) -> None:
        self._node_labels = node_labels
        self._nodes = nodes
        self._named: dict[str, str] = {}

    def __call__(self, labels: Labels) -> Labels:
        added = [name for name in labels if name.startswith(AUXILIARY)]
        if added:
            labels = labels.without(*added)
        for name in self._node_labels:
            value = labels.get(name, "")
            if value and self._nodes is not None:
                node = self._named.get(value)
                if node is None:
                    node = self._named[value] = self._nodes.of(value) or value
                if node != value:
                    labels = labels.with_(**{name: node})
        return labels


def _any_of(names: Collection[str], more: str = "") -> str:
    return "{__name__=~" + json.dumps("|".join(sorted(names))) + more + "}"


def _names_query(family: Family) -> str:
    names = {*family.probed, *family.aliases}
    names |= {alias.name for some in family.aliases.values() for alias in some}
    return f"count by (__name__) ({_any_of(names)})"


def _signature_query(family: Family) -> str:
    """Return the query for which of the labels each job has."""
    roles = (Role.NODE, Role.POD, Role.NAMESPACE)
    labels = dict.fromkeys(name for role in roles for name in family.roles[role].names)
    return " or ".join(
        f"label_replace(count by (job) ({_any_of(family.probed, f', {name}!=' + json.dumps(''))}), "
        f'"{_LABEL}", "{name}", "", "")'
        for name in labels
    )


def _signature(found: Seen) -> frozenset[tuple[str, str]]:
    return frozenset((one.labels.get("job", ""), one.labels.get(_LABEL, "")) for one in found.samples)
