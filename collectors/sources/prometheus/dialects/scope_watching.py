"""The scope of one Prometheus: looked up before the first query, and again each minute."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from collectors.facts.results import Blind, Sample
from collectors.sources.prometheus.dialects.node_names import NodeNames, RunQuery
from collectors.sources.prometheus.dialects.scoping import (
    CLUSTERS,
    COPIES,
    VALUES_QUERY,
    Scope,
    copies_query,
    evidence_query,
    given_scope,
    scope_from_evidence,
    several,
    unclear,
)
from collectors.sources.prometheus.dialects.splitting import (
    SAMPLED,
    of_every_target,
    sampled_query,
    splitting,
    targets_query,
)

LOOK_EVERY = 60.0  # seconds
EVIDENCE_HOLDS = 2 * 3600.0  # seconds, while the values are the same
_REMAINS = 0.75  # of the targets at most, without what tells copies apart


class ScopeWatch:
    """Follows which series count. `given` are the matchers of the settings: then clusters are not looked up."""

    def __init__(self, ask: RunQuery, given: Mapping[str, str]) -> None:
        self._ask = ask
        self._given = given_scope(given)
        self._lock = asyncio.Lock()
        self._looked: float | None = None  # by the loop's clock
        self._decided = 0.0
        self._values: tuple[Mapping[str, frozenset[str]], bool, tuple[str, ...]] | None = None
        self.scope = self._given

    async def follow(self, nodes: NodeNames | None, at: datetime) -> Blind | None:
        """Look it up if that is due; Blind when it never worked."""
        async with self._lock:
            now = asyncio.get_running_loop().time()
            knows = nodes is not None and nodes.is_known
            knows_more = knows and self._values is not None and not self._values[1]
            if self._looked is not None and now - self._looked < LOOK_EVERY and not knows_more:
                return None
            found = await self._ask(VALUES_QUERY, at)
            if isinstance(found, Blind):
                return found if self._looked is None else None
            split = await self._splitting(nodes if knows else None, at)
            if isinstance(split, Blind):
                return split if self._looked is None else None
            values = several(found.samples, (*CLUSTERS, *COPIES)), knows, split
            self._looked = now
            if values == self._values and now - self._decided < EVIDENCE_HOLDS:
                return None
            scope = await self._decide(values[0], split, nodes if knows else None, at)
            if isinstance(scope, Blind):
                return scope if self._values is None else None
            self.scope, self._values, self._decided = scope, values, now
            return None

    async def _splitting(self, nodes: NodeNames | None, at: datetime) -> tuple[str, ...] | Blind:
        """Return the labels of no list by which series of the cluster's nodes are there several times."""
        if nodes is None or self._given.matchers:
            return ()
        found = await self._ask(sampled_query(nodes.some(SAMPLED)), at)
        if isinstance(found, Blind):
            return found
        labels = splitting(found.samples)
        if not labels:
            return ()
        targets = await self._ask(targets_query(labels), at)
        return targets if isinstance(targets, Blind) else of_every_target(labels, targets.samples)

    async def _decide(
        self,
        values: Mapping[str, frozenset[str]],
        split: Sequence[str],
        nodes: NodeNames | None,
        at: datetime,
    ) -> Scope | Blind:
        scope = self._given
        clusters = [name for name in CLUSTERS if name in values]
        for label in (*clusters, *split) if nodes is not None and not self._given.matchers else ():
            if scope.problem or nodes is None:
                continue
            found = await self._ask(evidence_query(label), at)
            if isinstance(found, Blind):
                return found
            one = scope_from_evidence(label, found.samples, nodes)
            scope = replace(scope, matchers=(*scope.matchers, *one.matchers), problem=one.problem)
        if scope.problem:
            return scope
        copies = await self._copies([name for name in COPIES if name in values], scope, at)
        if isinstance(copies, Blind):
            return copies
        for label in split if not scope.matchers else ():
            more = await self._copies([*copies, label], scope, at)
            if isinstance(more, Blind):
                return more
            if not more:
                return replace(scope, problem=unclear(label))
            copies = more
        return replace(scope, copies=copies)

    async def _copies(self, names: Sequence[str], scope: Scope, at: datetime) -> tuple[str, ...] | Blind:
        """Return these labels if targets differ by them alone."""
        if not names:
            return ()
        remaining = await self._ask(copies_query(names, scope), at)
        if isinstance(remaining, Blind):
            return remaining
        return tuple(names) if _share(remaining.samples) <= _REMAINS else ()


def _share(samples: tuple[Sample, ...]) -> float:
    return samples[0].value if samples else 1.0
