"""This file has the source to Prometheus: a question in, Seen or Blind out. It never raises for trouble outside."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from collectors.facts.clock import in_words
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, QueryResult, Sample, Seen, SourceError
from collectors.sources.prometheus import wire as wire
from collectors.sources.prometheus.connection import PrometheusConnection, PrometheusOptions
from collectors.sources.prometheus.wire import Series, Target

__all__ = ["PrometheusOptions", "PrometheusSource", "Series", "Target"]

T = TypeVar("T")


class PrometheusSource:
    """Asks one Prometheus. The client blocks, so each question takes a thread of the source's own small pool.

    `close()` waits for the threads that are under way, each of which ends by itself within the timeout.
    """

    def __init__(self, settings: PrometheusOptions, *, name: str = "prometheus") -> None:
        self.name = name
        self.settings = settings
        self._connection = PrometheusConnection(settings)
        self._threads = ThreadPoolExecutor(settings.concurrency, thread_name_prefix=f"ask-{name}")
        self._under_way: set[Future[object]] = set()
        self._closed = False

    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult:
        """The samples at that moment, labels exactly as returned; with `presence`, what is present too."""
        expressions = [query.expr] if query.presence is None else [query.expr, query.presence]
        found = await asyncio.gather(*(self._instant(expr, at) for expr in expressions))
        for one in found:
            if isinstance(one, Blind):
                return one
        samples, *others = (one for one in found if not isinstance(one, Blind))
        present = tuple(sample.labels for sample in others[0]) if others else None
        return Seen(source=self.name, at=at, samples=samples, present=present)

    async def health(self, *, at: datetime) -> Blind | None:
        """Why nothing that this server says now may be believed, or None. Ask it once a cycle.

        A server that has just started answers every query, with nothing: its silence is not health.
        """
        if not self.settings.freshness_query:
            return None
        found = await self._instant(self.settings.freshness_query, at)
        if isinstance(found, Blind):
            return found
        if not found or not found[0].value > 0:
            reason = "it answers but holds no fresh sample of `up`: it has just started, or scrapes nothing"
            return self._blind(at, f"{self._connection.where}: {reason}", is_lasting=True)
        age = at - datetime.fromtimestamp(found[0].value, UTC)
        if age > self.settings.stale_after:
            reason = (
                f"its newest scrape is {in_words(age)} old: it has just restarted, is stuck, or clocks differ"
            )
            return self._blind(at, f"{self._connection.where}: {reason}", is_lasting=True)
        return None

    async def range(
        self, expr: str, *, start: datetime, end: datetime, step: timedelta
    ) -> tuple[Series, ...] | Blind:
        """The expression over time, for charts and evidence."""
        form = {
            "query": expr,
            "start": _moment(start),
            "end": _moment(end),
            "step": f"{step.total_seconds():g}",
            "timeout": self._patience(),
        }
        cap = self.settings.series_cap
        return await self._try("/api/v1/query_range", form, end, lambda body: wire.ranges(body, cap=cap))

    async def series(self, match: str, *, start: datetime, end: datetime) -> tuple[Labels, ...] | Blind:
        """The label sets that a selector matched in a window: which dialect is spoken here?"""
        form: dict[str, str | list[str]] = {
            "match[]": [match],
            "start": _moment(start),
            "end": _moment(end),
        }
        cap = self.settings.series_cap
        return await self._try("/api/v1/series", form, end, lambda body: wire.label_sets(body, cap=cap))

    async def targets(self, *, at: datetime) -> tuple[Target, ...] | Blind:
        """The scrape targets and how they are. Thanos and Mimir do not have them and give Blind."""
        return await self._try("/api/v1/targets", {"state": "active"}, at, wire.targets, method="GET")

    async def close(self) -> None:
        self._closed = True
        self._threads.shutdown(wait=False)  # those in line end at once, see `_try`
        if running := [asyncio.wrap_future(one) for one in self._under_way if not one.done()]:
            await asyncio.wait(running, timeout=2 * self.settings.timeout.total_seconds())
        self._connection.close()

    async def _instant(self, expr: str, at: datetime) -> tuple[Sample, ...] | Blind:
        form = {"query": expr, "time": _moment(at), "timeout": self._patience()}
        cap = self.settings.series_cap
        return await self._try("/api/v1/query", form, at, lambda body: wire.instant(body, cap=cap))

    async def _try(
        self,
        path: str,
        form: Mapping[str, str | list[str]],
        at: datetime,
        read: Callable[[bytes], T],
        *,
        method: str = "POST",
    ) -> T | Blind:
        """Ask in a thread and read the answer there too. A cancelled asker does not stop the thread."""

        def job() -> T | Blind:
            if self._closed:  # it stood in line when the source closed
                return self._blind(at, f"the source to {self._connection.where} is closed")
            try:
                body = self._connection.ask(path, form, method=method)
            except SourceError as failure:
                return self._blind(at, str(failure), is_lasting=not failure.temporary)
            try:
                return read(body)
            except SourceError as failure:
                return self._blind(
                    at, f"{self._connection.where}: {failure}", is_lasting=not failure.temporary
                )

        if self._closed:
            return self._blind(at, f"the source to {self._connection.where} is closed")
        if len(self._under_way) >= self.settings.waiting_cap:
            return self._blind(
                at,
                f"{len(self._under_way)} questions wait for {self._connection.where} already: "
                "it is too slow for so many rules",
            )
        under_way = self._threads.submit(job)
        self._under_way.add(under_way)  # type: ignore[arg-type]
        under_way.add_done_callback(self._under_way.discard)
        return await asyncio.wrap_future(under_way)

    def _blind(self, at: datetime, reason: str, *, is_lasting: bool = False) -> Blind:
        return Blind(source=self.name, at=at, reason=reason, is_lasting=is_lasting)

    def _patience(self) -> str:
        """The server's own limit for one query, so that it does not work for nobody."""
        return f"{self.settings.timeout.total_seconds():g}s"


def _moment(at: datetime) -> str:
    return f"{at.timestamp():.3f}"
