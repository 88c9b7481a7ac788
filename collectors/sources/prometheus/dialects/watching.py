"""The dialects of one Prometheus: looked up before the first query, and again when its series change."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from collectors.facts.labels import Labels
from collectors.facts.promql.selectors import selectors
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, Sample, Seen, Series
from collectors.facts.sentences import sentence
from collectors.sources.prometheus.dialects.choosing import Overrides
from collectors.sources.prometheus.dialects.families import FAMILIES, TARGETS, Family, Role
from collectors.sources.prometheus.dialects.family_look import Look, LookUp
from collectors.sources.prometheus.dialects.node_names import LearnedAddresses, NodeNames, RunQuery
from collectors.sources.prometheus.dialects.probing import Spelling, signature, signature_query
from collectors.sources.prometheus.dialects.query_rewriting import (
    LabelRestorer,
    MetricForms,
    MetricName,
    rewritten,
)
from collectors.sources.prometheus.dialects.same_nodes import NO_COPIES, compares_nodes, with_names
from collectors.sources.prometheus.dialects.scope_watching import ScopeWatch

# Seconds: whether the labels are still the same; while alerts stand, at each of their moments.
CHECK_EVERY = 60.0
LOOK_EVERY = 2 * 3600.0  # seconds: their values are looked at again


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A query as this Prometheus can answer it. `node_labels` are the labels of its result that name nodes."""

    expr: str
    presence: str | None
    node_labels: frozenset[str] = frozenset()


class Dialects:
    """Rewrites the queries of packs to the labels and names that are there, and their results back.

    `ask` queries the server. `overrides` are the labels of the settings, by family, and `matchers` those that the
    series of the cluster have.
    """

    def __init__(
        self,
        ask: RunQuery,
        *,
        overrides: Mapping[str, Overrides] | None = None,
        families: Sequence[Family] = FAMILIES,
        matchers: Mapping[str, str] | None = None,
    ) -> None:
        self._ask = ask
        self._scope = ScopeWatch(ask, matchers or {})
        self._addresses = LearnedAddresses(ask)
        self._overrides = overrides or {}
        self._families = families
        self._looks: dict[str, Look] = {}
        self._locks = {family.name: asyncio.Lock() for family in families}
        self._choosing = asyncio.Lock()
        self._nodes: NodeNames | None = None

    def follow(self, nodes: NodeNames) -> None:
        """Compare the values of labels with the nodes and pods of the cluster from now on."""
        self._nodes = nodes

    async def prepare(self, query: PromQLQuery, *, at: datetime, force: bool = False) -> Prepared | Blind:
        """Return the query in the dialect of its series, as of now; Blind when their node is not known."""
        blind = await self._scope.follow(self._nodes, at)
        if blind is not None:
            return blind
        if problem := self.scope_problem:
            return Blind(source="prometheus", at=at, reason=problem)
        await self._addresses.follow(self._nodes, self.of_cluster, at)
        texts = [query.expr, *([query.presence] if query.presence is not None else [])]
        metrics = {selector.metric for text in texts for selector in selectors(text)}
        families = [one for one in self._families if any(one.has(metric) for metric in metrics)]
        for family in families:
            blind = await self._follow(family, at, must_check=force or query.presence is not None)
            if blind is not None:
                return blind
            if problem := self._problem(family):
                return Blind(source="prometheus", at=at, reason=problem)
        forms = partial(self._forms, beside=families)
        return Prepared(
            expr=rewritten(query.expr, forms, self.of_cluster),
            presence=None if query.presence is None else rewritten(query.presence, forms, self.of_cluster),
            node_labels=frozenset(
                name
                for one in families
                if one.is_on_node or self._names_hosts_anew(one)
                for name in (one.roles[Role.NODE].label, "node")
            ),
        )

    @property
    def scope_problem(self) -> str:
        """Why it is not known which series are this cluster's; empty if it is."""
        return self._scope.scope.problem

    def of_cluster(self, expr: str) -> str:
        """Return the expression for the series of this cluster, as far as they are known."""
        return self._scope.scope.of(expr)

    def restored(self, found: Seen, prepared: Prepared) -> Seen:
        """Return the result with the names of nodes, and without what the rewriting added.

        Where two samples become the same, such as those of an exporter's pod and of its successor, the larger is kept.
        """
        restored = self.restorer(prepared.node_labels)
        samples: dict[Labels, Sample] = {}
        for sample in found.samples:
            labels = restored(sample.labels)
            other = samples.get(labels)
            if other is None or sample.value > other.value:
                samples[labels] = replace(sample, labels=labels)
        unread = tuple(restored(labels) for labels in found.unread)
        return replace(found, samples=tuple(samples.values()), unread=unread)

    def restorer(self, node_labels: frozenset[str]) -> LabelRestorer:
        """Return what restores single labels likewise."""
        return LabelRestorer(node_labels, self._nodes)

    def restored_series(self, found: Sequence[Series], prepared: Prepared) -> tuple[Series, ...]:
        """Return the series of a range likewise; of those that become the same, the later points are kept."""
        restored = self.restorer(prepared.node_labels)
        points: dict[Labels, dict[float, float]] = {}
        for series in found:
            labels = restored(series.labels)
            points.setdefault(labels, {}).update(series.points)
        return tuple(
            Series(labels=labels, points=tuple(sorted(some.items()))) for labels, some in points.items()
        )

    def is_unnamed(self, found: Seen, prepared: Prepared) -> bool:
        """Whether a sample lacks the label of the node that others of the result, or the query, have."""
        labels = {one.roles[Role.NODE].label for one in self._families if one.is_on_node}
        asked = [name for name in prepared.node_labels & labels if name in prepared.expr]
        return any(name not in sample.labels for sample in found.samples for name in asked)

    def described(self) -> list[str]:
        """Return a line for each exporter that was needed and has series: which labels name what."""
        return [
            *self._scope.scope.described(),
            *self._described(),
        ]

    def _described(self) -> list[str]:
        renamed = (
            sentence(
                "the metrics of {exporter} have other names here, such as `{metric}`",
                exporter=name,
                metric=look.family.probes[0],
            )
            for name, look in self._looks.items()
            if look.spelling != Spelling()
        )
        return [
            *renamed,
            *(
                f"{name}: "
                + ", ".join(_described(role, names) for role, names in look.dialect.labels.items())
                for name, look in self._looks.items()
                if look.series and look.dialect.labels
            ),
        ]

    def _problem(self, family: Family) -> str:
        look = self._looks[family.name]
        if look.dialect.problem:
            return look.dialect.problem
        if not family.is_on_node or self._nodes is None or look.has_nodes:
            return ""
        label = family.roles[Role.NODE].label
        if any(group.source_of(label) for group in look.dialect.groups):
            return sentence(
                "the nodes of {family}'s series are not known before the cluster's objects are listed",
                family=family.name,
            )
        return ""

    def _names_hosts_anew(self, family: Family) -> bool:
        """Whether the hosts of the family's series get their nodes' names for their addresses."""
        dialect = self._looks[family.name].dialect
        groups = dialect.copies.of_nodes(dialect.groups, family) if family.is_on_host else ()
        return any(group.source_of(label) for group in groups for label in family.labels_of(Role.NODE))

    def _forms(self, metric: str, *, beside: Sequence[Family]) -> MetricForms | None:
        """Return the forms of a metric in a query for these families; None where it is as the packs name it."""
        family = next((one for one in self._families if one.has(metric)), None)
        look = self._looks.get(family.name) if family is not None else None
        if family is None or look is None:
            return None
        spelled = look.spelling.of(metric)
        aliases = look.family.aliases.get(spelled, ())
        there = [one for one in aliases if one.name in look.names or not one.beside.isdisjoint(look.names)]
        own = [MetricName(name=spelled)] if spelled in look.names or not there else []
        names = (*own, *(MetricName(name=one.name, factor=one.factor, where=one.where) for one in there))
        copies = NO_COPIES if TARGETS in beside else look.dialect.copies  # `up` knows each target
        groups = copies.of_nodes(look.dialect.groups, family)
        if self._nodes is not None and (copies.labels or (family.is_on_node and compares_nodes(beside))):
            groups = with_names(groups, family, look.seen, self._nodes)
        form = MetricForms(names=names, groups=groups, copies=copies.labels)
        return None if form.is_plain(metric) else form

    async def _follow(self, family: Family, at: datetime, *, must_check: bool) -> Blind | None:
        """Look the family up if it was not yet, or if its series may have changed."""
        async with self._locks[family.name]:
            now = asyncio.get_running_loop().time()
            look = self._looks.get(family.name)
            if look is None:
                return await self._look_up(family, at, now)
            knows_more = self._nodes is not None and self._nodes.is_known and not look.has_nodes
            has_learned = self._nodes is None or look.learned == self._nodes.all_learned
            is_current = look.scope == self._scope.scope and has_learned
            if is_current and not knows_more and now - look.looked < LOOK_EVERY:
                is_old = look.checked_at is not None and at <= look.checked_at  # asked for, or a backfill
                if is_old or not (must_check or now - look.checked >= CHECK_EVERY):
                    return None
                found = await self._ask(signature_query(look.family, self._scope.scope.inner), at)
                look.checked, look.checked_at = now, at
                if isinstance(found, Blind) or signature(found) == look.signature:
                    return None
            await self._look_up(family, at, now)
            return None

    async def _look_up(self, family: Family, at: datetime, now: float) -> Blind | None:
        """Find out which labels and names the family's series have; what was found before stays if that fails."""
        overrides = self._overrides.get(family.name)
        look_up = LookUp(
            ask=self._ask,
            scope=self._scope.scope,
            nodes=self._nodes,
            overrides=overrides,
            one_thread=self._choosing,
        )
        found = await look_up(family, at, now, self._looks.get(family.name))
        if isinstance(found, Blind):
            return found
        self._looks[family.name] = found
        return None


def _described(role: Role, names: Sequence[str]) -> str:
    return f"{role} from " + " or ".join(f"`{name}`" for name in names)
