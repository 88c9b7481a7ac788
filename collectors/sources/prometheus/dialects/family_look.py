"""A look at one family of exporters: the names of its metrics, and the labels of its series."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from collectors.facts.labels import Labels
from collectors.facts.results import Blind, Seen
from collectors.sources.prometheus.dialects.choosing import Dialect, Overrides, choose
from collectors.sources.prometheus.dialects.families import INSTANCE, Family
from collectors.sources.prometheus.dialects.node_names import NodeNames, RunQuery
from collectors.sources.prometheus.dialects.probing import (
    Spelling,
    any_of,
    names_query,
    signature,
    signature_query,
    spelling_of,
    spelling_query,
)
from collectors.sources.prometheus.dialects.scoping import Scope

KEPT_FOR = 2 * 3600.0  # seconds: a window may still hold series in the dialect of before
_MOST_SERIES = 2_000  # looked at; of more, two of each target
_IN_ONE_GO = 500  # series of which a dialect is chosen in the event loop


@dataclass(slots=True)
class Look:
    """What was found of a family, by the loop's clock."""

    family: Family  # with the names of its metrics as they are here
    dialect: Dialect = field(default_factory=Dialect)
    spelling: Spelling = field(default_factory=Spelling)
    names: frozenset[str] = frozenset()  # of metrics with an alias that are there
    scope: Scope = field(default_factory=Scope)
    signature: frozenset[tuple[str, str]] = frozenset()  # the labels that each job has
    learned: Mapping[str, str] = field(default_factory=dict)  # addresses that were known
    has_nodes: bool = False  # whether the cluster's nodes were known
    looked: float = 0.0
    checked: float = 0.0
    checked_at: datetime | None = None  # the moment that the check was as of
    series: list[tuple[float, tuple[Labels, ...]]] = field(default_factory=list)

    @property
    def seen(self) -> tuple[Labels, ...]:
        """The series of all moments that count."""
        return tuple(dict.fromkeys(labels for _, some in self.series for labels in some))


@dataclass(frozen=True, slots=True, kw_only=True)
class LookUp:
    """Looks families up in the series of a scope. `one_thread`: several at once would hold up the event loop."""

    ask: RunQuery
    scope: Scope
    nodes: NodeNames | None
    overrides: Overrides | None
    one_thread: asyncio.Lock

    async def __call__(self, usual: Family, at: datetime, now: float, before: Look | None) -> Look | Blind:
        """Return what there is of a family. `now` is the loop's time, `before` what was found last."""
        names = await self._names(usual, at)
        if isinstance(names, Blind):
            return names
        spelling = Spelling()
        if not names.keys() & {*usual.probed}:
            spelled = await self._spelling(usual, at, before.spelling if before else spelling)
            if isinstance(spelled, Blind):
                return spelled
            if spelled != spelling:
                spelling, names = spelled, await self._names(spelled.family(usual), at)
        if isinstance(names, Blind):
            return names
        family = spelling.family(usual)
        labels = await self.ask(signature_query(family, self.scope.inner), at)
        if isinstance(labels, Blind):
            return labels
        found = await self._series(family, names, at)
        if isinstance(found, Blind):
            return found
        is_same = before is not None and before.scope == self.scope  # else series may be of other clusters
        kept = [one for one in before.series if now - one[0] < KEPT_FOR] if before and is_same else []
        series = tuple(dict.fromkeys(one.labels for one in found.samples)) if found is not None else ()
        look = Look(
            family=family,
            spelling=spelling,
            names=frozenset(names),
            scope=self.scope,
            signature=signature(labels),
            learned=self.nodes.all_learned if self.nodes is not None else {},
            has_nodes=self.nodes is not None and self.nodes.is_known,
            looked=now,
            checked=now,
            checked_at=at,
            series=[*kept[-1:], *([(now, series)] if series else [])],
        )
        look.dialect = await self._chosen(usual, look.seen, series)
        return look

    async def _chosen(self, usual: Family, seen: Sequence[Labels], fresh: Sequence[Labels]) -> Dialect:
        """Return the dialect of what was found; of many series in a thread: in a large cluster it takes seconds."""
        chosen = partial(choose, usual, seen, overrides=self.overrides, fresh=fresh or None)
        if len(seen) <= _IN_ONE_GO:
            return chosen(nodes=self.nodes)
        async with self.one_thread:
            return await asyncio.to_thread(chosen, nodes=self.nodes and self.nodes.as_of_now())

    async def _names(self, family: Family, at: datetime) -> Mapping[str, float] | Blind:
        found = await self.ask(names_query(family, self.scope.inner), at)
        if isinstance(found, Blind):
            return found
        return {one.labels["__name__"]: one.value for one in found.samples if "__name__" in one.labels}

    async def _spelling(self, family: Family, at: datetime, before: Spelling) -> Spelling | Blind:
        """Return how the family's names are spelled, as before while none of them is there."""
        query = spelling_query(family, self.scope.inner)
        found = await self.ask(query, at) if query else None
        if isinstance(found, Blind):
            return found
        return spelling_of(family, found.samples) if found is not None and found.samples else before

    async def _series(self, family: Family, names: Mapping[str, float], at: datetime) -> Seen | Blind | None:
        probe = any_of(family.probed, self.scope.inner)
        total = sum(names.get(name, 0.0) for name in family.probed) if family.roles else 0
        sampled = probe if total <= _MOST_SERIES else f"topk by (job, {INSTANCE}) (2, {probe})"
        return await self.ask(sampled, at) if total else None
