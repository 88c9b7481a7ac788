"""The scope of one Prometheus: looked up before the first query, and again each minute."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime

from collectors.facts.results import Blind, QueryResult, Sample
from collectors.sources.prometheus.dialects.node_names import NodeNames
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
)

RunQuery = Callable[[str, datetime], Awaitable[QueryResult]]

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
        self._values: tuple[Mapping[str, frozenset[str]], bool] | None = None
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
            values = several(found.samples, (*CLUSTERS, *COPIES)), knows
            self._looked = now
            if values == self._values and now - self._decided < EVIDENCE_HOLDS:
                return None
            scope = await self._decide(values[0], nodes if knows else None, at)
            if isinstance(scope, Blind):
                return scope if self._values is None else None
            self.scope, self._values, self._decided = scope, values, now
            return None

    async def _decide(
        self, values: Mapping[str, frozenset[str]], nodes: NodeNames | None, at: datetime
    ) -> Scope | Blind:
        scope = self._given
        for label in CLUSTERS if nodes is not None and not self._given.matchers else ():
            if label not in values or scope.problem or nodes is None:
                continue
            found = await self._ask(evidence_query(label), at)
            if isinstance(found, Blind):
                return found
            one = scope_from_evidence(label, found.samples, nodes)
            scope = replace(scope, matchers=(*scope.matchers, *one.matchers), problem=one.problem)
        names = tuple(name for name in COPIES if name in values)
        if not names:
            return scope
        remaining = await self._ask(copies_query(names, scope), at)
        if isinstance(remaining, Blind):
            return remaining
        return replace(scope, copies=names) if _share(remaining.samples) <= _REMAINS else scope


def _share(samples: tuple[Sample, ...]) -> float:
    return samples[0].value if samples else 1.0
