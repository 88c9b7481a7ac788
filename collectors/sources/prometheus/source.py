"""The Prometheus source: a query returns Seen or Blind, and never raises for an error outside."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from collectors.facts.clock import moment_of
from collectors.facts.findings import Finding
from collectors.facts.labels import Labels
from collectors.facts.missing_metrics import MissingMetrics
from collectors.facts.queries import PromQLQuery, Query
from collectors.facts.results import Blind, QueryResult, Sample, Seen, Series, SourceError
from collectors.facts.sentences import counted, listed, said_by, sentence
from collectors.facts.topology import Topology
from collectors.sources.prometheus import wire
from collectors.sources.prometheus.client import PrometheusClient
from collectors.sources.prometheus.diagnosis import diagnose_prometheus, missing
from collectors.sources.prometheus.dialects.node_names import NodeNames
from collectors.sources.prometheus.dialects.query_rewriting import AUXILIARY
from collectors.sources.prometheus.dialects.watching import Dialects, Prepared
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.ranges import RangeReader
from collectors.sources.prometheus.scrape_intervals import SCRAPES_QUERY, longest_gap
from collectors.sources.prometheus.shared_queries import LabelPool, SharedQueries
from collectors.unreadable_items import UnreadableItems

GAP_HOLDS = timedelta(minutes=10)
_IN_ONE_GO = 1_000  # labels of a presence query; others run then
_MAX_UNREAD = 100  # labels of unread samples that are kept; beyond, a sample may be of any alert


class PrometheusSource:
    """Queries one Prometheus. Create it in a running event loop."""

    query_types: frozenset[type[Query]] = frozenset({PromQLQuery})

    def __init__(
        self,
        settings: PrometheusOptions,
        *,
        name: str = "prometheus",
        unreadable: UnreadableItems | None = None,
    ) -> None:
        self._unreadable = unreadable or UnreadableItems()
        self.name = name
        self.settings = settings
        self._client = PrometheusClient(settings)
        self._ranges = RangeReader(settings)
        self._presence = SharedQueries(self._present)
        self._pool = LabelPool()
        self._reading = asyncio.Lock()  # of large answers, one at a time
        self.dialects = Dialects(self._instant, overrides=settings.labels, matchers=settings.matchers)
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._waiting = 0  # queries that run or wait
        self._is_closed = False
        self._gap: tuple[datetime, timedelta] | None = None  # the longest that is not a hole; as of when

    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult:
        """Return the samples at that moment, and the presence query's result.

        Their labels are exactly as returned, or those that the query of a pack names.
        """
        if not query.of_pack:
            return await self._queried(Prepared(expr=query.expr, presence=query.presence), at)
        prepared = await self.dialects.prepare(query, at=at)
        if isinstance(prepared, Blind):
            return replace(prepared, source=self.name)
        found = await self._queried(prepared, at)
        if isinstance(found, Seen) and self.dialects.is_unnamed(found, prepared):
            again = await self.dialects.prepare(query, at=at, force=True)
            if isinstance(again, Prepared) and again != prepared:  # exporters with other labels have come
                prepared, found = again, await self._queried(again, at)
        return found if isinstance(found, Blind) else self.dialects.restored(found, prepared)

    def follow(self, topology: Callable[[], Topology]) -> None:
        """Compare the values of labels with the nodes and pods of the cluster from now on."""
        self.dialects.follow(NodeNames(topology))

    async def _queried(self, prepared: Prepared, at: datetime) -> QueryResult:
        asked = [self._instant(prepared.expr, at)]
        if prepared.presence is not None:  # many rules have the same one
            asked.append(self._presence.query((prepared.presence, prepared.node_labels), at))
        found = await asyncio.gather(*asked)
        for one in found:
            if isinstance(one, Blind):
                return one
        first, *others = (one for one in found if not isinstance(one, Blind))
        return replace(first, present=others[0].present if others else None)

    async def _present(self, query: tuple[str, frozenset[str]], at: datetime) -> QueryResult:
        """Return a presence query's labels as the packs name them. `query` has the labels that name nodes, too."""
        expr, node_labels = query
        found = await self._instant(expr, at)
        if isinstance(found, Blind):
            return found
        restored = self.dialects.restorer(node_labels) if node_labels or AUXILIARY in expr else None
        present: dict[Labels, None] = {}
        for number, sample in enumerate(found.samples, start=1):
            labels = restored(sample.labels) if restored is not None else sample.labels
            present[self._pool.shared(labels, at)] = None
            if number % _IN_ONE_GO == 0:
                await asyncio.sleep(0)
        return replace(found, samples=(), present=tuple(present))

    async def range(
        self, query: PromQLQuery, *, start: datetime, end: datetime, step: timedelta
    ) -> tuple[Series, ...]:
        """Return the samples over time, without presence. Raises SourceError, TooLargeError for a shorter range."""
        if not query.of_pack:
            return await self._ranges.fetch(query.expr, start=start, end=end, step=step)
        prepared = await self.dialects.prepare(query.without_presence(), at=end)
        if isinstance(prepared, Blind):
            raise SourceError(prepared.reason, temporary=not prepared.is_lasting)
        found = await self._ranges.fetch(prepared.expr, start=start, end=end, step=step)
        return self.dialects.restored_series(found, prepared)

    async def health(self, *, at: datetime) -> Blind | None:
        """Return Blind when the server's results cannot be trusted now. Call it once per cycle.

        A server that has just started answers every query with an empty result, which does not mean healthy.
        """
        if not self.settings.freshness_query:
            return None
        return await self._stale(at, self.settings.stale_after)

    async def hole(self, *, at: datetime) -> Blind | None:
        """Return Blind when the server scraped nothing just before that moment, or when it had just begun again.

        A result as of then shows the hole: rates decay, and what was active seems to have ended. A rate needs two
        samples, so the moments after the hole count again when scraping has gone on for a while.
        """
        if not self.settings.freshness_query:
            return None
        gap = await self._longest_gap(at)
        if isinstance(gap, Blind):
            return gap
        return await self._stale(at, gap) or await self._stale(at - gap, gap)

    async def diagnose(self, queries: Mapping[str, Query], *, at: datetime) -> Sequence[Finding]:
        """Return whether it answers and scrapes, and which rules have no series to see."""
        return await diagnose_prometheus(
            self._client,
            self.dialects,
            self._instant,
            await self.health(at=at),
            queries,
            at,
            unexposed=self.settings.unexposed,
        )

    async def missing(
        self, queries: Mapping[str, Query], *, at: datetime
    ) -> Sequence[MissingMetrics] | Blind:
        """Return which metrics these queries need that have no series now, and why."""
        return await missing(self.dialects, self._instant, queries, at, unexposed=self.settings.unexposed)

    async def _stale(self, at: datetime, limit: timedelta) -> Blind | None:
        """Return Blind when the newest scrape as of that moment is older than `limit`."""
        found = await self._instant(self.dialects.of_cluster(self.settings.freshness_query), at)
        if isinstance(found, Blind):
            return found
        samples = found.samples
        if not samples or not samples[0].value > 0:
            reason = sentence(
                "it answers, but has no fresh sample of `up`: it has just started, or scrapes nothing"
            )
            return self._blind(at, listed([self._client.where, reason], ":"), is_lasting=True)
        newest = moment_of(samples[0].value)
        if newest is None:
            reason = sentence(
                "`freshness_query` returned {value:g}, which is not a time in seconds",
                value=samples[0].value,
            )
            return self._blind(at, listed([self._client.where, reason], ":"), is_lasting=True)
        age = at - newest
        if age > limit:
            reason = sentence(
                "its newest scrape is {age} old: it has just restarted, is stuck, or clocks differ",
                age=age,
            )
            return self._blind(at, reason, is_lasting=True)
        return None

    async def _longest_gap(self, at: datetime) -> timedelta | Blind:
        if self._gap is None or abs(at - self._gap[0]) > GAP_HOLDS:
            found = await self._instant(self.dialects.of_cluster(SCRAPES_QUERY), at)
            if isinstance(found, Blind) and not found.is_lasting:
                return found
            samples = () if isinstance(found, Blind) else found.samples  # Blind: no subqueries there
            scrapes = samples[0].value if samples else 0.0
            self._gap = at, longest_gap(scrapes, self.settings.stale_after)
        return self._gap[1]

    async def close(self) -> None:
        """Close the connections. Queries that run or wait become Blind."""
        self._is_closed = True
        await self._client.close()
        await self._ranges.close()

    async def _instant(self, expr: str, at: datetime) -> QueryResult:
        if self._waiting >= self.settings.waiting_cap:
            return self._blind(
                at,
                counted(
                    "{count} query already waits for {where}: it is too slow for so many rules",
                    "{count} queries already wait for {where}: it is too slow for so many rules",
                    count=self._waiting,
                    where=self._client.where,
                ),
            )
        self._waiting += 1
        try:
            async with self._slots:
                if self._is_closed:
                    return self._blind(
                        at, sentence("the source to {where} is closed", where=self._client.where)
                    )
                try:
                    body = await self._client.query(self._form(expr, at))
                except SourceError as failure:
                    return self._blind(at, said_by(failure), is_lasting=not failure.temporary)
                try:
                    async with self._reading:
                        return await self._seen(body, at)
                except SourceError as failure:
                    return self._blind(
                        at,
                        listed((self._client.where, said_by(failure)), ":"),
                        is_lasting=not failure.temporary,
                    )
        finally:
            self._waiting -= 1

    def _form(self, expr: str, at: datetime) -> Mapping[str, str]:
        """Return the form; the server's own limit keeps it from working on an abandoned query."""
        limit = f"{self.settings.timeout.total_seconds():g}s"
        return {"query": expr, "time": f"{at.timestamp():.3f}", "timeout": limit}

    async def _seen(self, body: bytes, at: datetime) -> Seen:
        samples: list[Sample] = []
        unread: dict[Labels, None] = {}

        def skip(reason: str, labels: Labels) -> None:
            self._unreadable.skip(self.name, reason)
            unread[labels if len(unread) < _MAX_UNREAD else Labels()] = None

        for number, batch in enumerate(wire.instant(body, cap=self.settings.series_cap, skip=skip)):
            if number:
                await asyncio.sleep(0)
            samples += batch
        return Seen(source=self.name, at=at, samples=tuple(samples), unread=tuple(unread))

    def _blind(self, at: datetime, reason: str, *, is_lasting: bool = False) -> Blind:
        return Blind(source=self.name, at=at, reason=reason, is_lasting=is_lasting)
