"""A source of OpenSearch: what a log store must answer, over plain HTTP, and nothing of Elasticsearch's source.

It is not a product: its fields are fixed, and it knows a level by its field only.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import aiohttp

from collectors.facts.labels import Labels
from collectors.facts.log_match import AllOf, AnyOf, FieldPhrase, LogMatch, Not
from collectors.facts.queries import LogLevel, LogQuery, Query
from collectors.facts.redaction import Redactor
from collectors.facts.results import Blind, LineLabels, LinePage, LogLine, QueryResult, Series, SourceError
from collectors.facts.topology import Topology
from collectors.logs.answering import LogLimits, answer_log_query
from collectors.logs.level_words import level_words
from collectors.logs.line_labels import label_value, spellings
from collectors.logs.line_pages import exact_values, read_page, shown_in_order
from collectors.logs.line_patterns import LinePattern
from collectors.logs.log_store import LineGroup, LineSearch, LogPage, Window
from collectors.logs.stored_lines import StoredLine, stored_line
from collectors.sources.source_port import query_each_step

Json = dict[str, Any]

FIELDS = {
    "node": "kubernetes.node.name",
    "namespace": "kubernetes.namespace",
    "pod": "kubernetes.pod.name",
    "container": "kubernetes.container.name",
    "component": "systemd.unit",
    "level": "log.level",
}
_LABELS = tuple(FIELDS)
_REDACT = Redactor().clean


@dataclass
class OpenSearchStore:
    """The lines of one index."""

    session: aiohttp.ClientSession
    index: str
    name: str = "opensearch"
    skipped: list[str] = field(default_factory=list)

    def has(self, label: str) -> bool:
        return label in FIELDS

    def check_phrases(self, by: Sequence[str]) -> None:
        for label in by:
            _field_of(label)

    async def count(self, search: LineSearch, windows: Sequence[Window], *, cap: int) -> Sequence[LineGroup]:
        found = []
        for number, window in enumerate(windows):
            before, behind = (0,) * number, (0,) * (len(windows) - number - 1)
            for values, count in await self._counts(_query(search, window), search.by, cap):
                labels = Labels({name: label_value(name, [value]) for name, value in values.items()})
                found.append(LineGroup(labels=labels, counts=(*before, count, *behind), keys=(values,)))
        return found

    async def _counts(
        self, query: Json, by: Sequence[str], cap: int
    ) -> list[tuple[Mapping[str, str | None], int]]:
        if not by:
            answered = await self._search({"size": 0, "track_total_hits": True, "query": query})
            return [({}, answered["hits"]["total"]["value"])]
        sources = [{name: {"terms": {"field": _field_of(name), "missing_bucket": True}}} for name in by]
        groups = {"composite": {"size": cap, "sources": sources}}
        answered = await self._search({"size": 0, "query": query, "aggs": {"groups": groups}})
        buckets = answered["aggregations"]["groups"]["buckets"]
        if len(buckets) >= cap:
            raise SourceError(f"more than {cap} groups: narrow `match`", temporary=False)
        return [(bucket["key"], bucket["doc_count"]) for bucket in buckets]

    async def totals(self, windows: Sequence[Window]) -> tuple[int, ...]:
        return tuple([(await self._counts(_within(window), (), 1))[0][1] for window in windows])

    async def newest(
        self, search: LineSearch, groups: Sequence[LineGroup], *, size: int, by: Sequence[str] = ()
    ) -> Sequence[tuple[StoredLine, ...]]:
        found = []
        for group in groups:
            either = [_all(_exactly(name, value) for name, value in key.items()) for key in group.keys]
            query = _all([_query(search, search.window), *([_any(either)] if either else [])])
            found.append((await self._page(query, by, size=size)).lines)
        return found

    async def pages(
        self, search: LineSearch, *, cap: int, but_not: Sequence[LinePattern] = ()
    ) -> AsyncIterator[LogPage]:
        excluded = [_all(_phrase("message", run) for run in one.runs) for one in but_not]
        query = _all([_query(search, search.window)], but_not=excluded)
        yield await self._page(query, search.by, size=cap)

    async def read(
        self,
        search: LineSearch,
        where: Mapping[str, Sequence[str]],
        *,
        size: int,
        skip: int = 0,
        oldest: bool = False,
    ) -> LogPage:
        exact = [
            {"terms": {_field_of(name): list(spellings(name, values))}} for name, values in where.items()
        ]
        query = _all([_query(search, search.window), *exact])
        return await self._page(query, _LABELS, size=size, skip=skip, oldest=oldest)

    async def seen(self, patterns: Sequence[LinePattern], window: Window) -> Sequence[bool]:
        queries = [
            _all([_within(window), *(_phrase("message", run) for run in one.runs)]) for one in patterns
        ]
        return [bool((await self._page(query, (), size=1)).hits) for query in queries]

    async def _page(
        self, query: Json, by: Sequence[str], *, size: int, skip: int = 0, oldest: bool = False
    ) -> LogPage:
        order = {"order": "asc" if oldest else "desc"}
        body: Json = {
            "from": skip,
            "size": size,
            "query": query,
            "sort": [{"@timestamp": order}, {"_seq_no": order}],
            "_source": False,
            "fields": ["@timestamp", "message", *FIELDS.values()],
        }
        hits = (await self._search(body))["hits"]["hits"]
        return LogPage(lines=tuple(_line_of(hit["fields"], by) for hit in hits), hits=len(hits))

    async def _search(self, body: Json) -> Json:
        async with self.session.post(f"/{self.index}/_search", json=body) as response:
            answered: Json = await response.json()
            if response.status != 200:
                reason = answered["error"]["root_cause"][0]["reason"]
                raise SourceError(f"{self.name} refused the search ({response.status}): {reason}")
        if answered["timed_out"] or answered["_shards"]["failed"]:
            raise SourceError(f"{self.name} answered a part only")
        return answered


class OpenSearchSource:
    """A source of log queries, for a cluster whose logs are in OpenSearch."""

    name: ClassVar[str] = "opensearch"
    query_types: ClassVar[frozenset[type[Query]]] = frozenset({LogQuery})

    def __init__(self, url: str, index: str) -> None:
        limit = aiohttp.ClientTimeout(total=20)
        self._session = aiohttp.ClientSession(url, timeout=limit)
        self._index = index
        self.topology: Topology | None = None

    async def _open(self, _at: datetime) -> OpenSearchStore:
        return OpenSearchStore(self._session, self._index)

    async def query(self, query: LogQuery, *, at: datetime) -> QueryResult:
        known = self.topology
        topology = (lambda: known) if known is not None else None
        limits = LogLimits(lag=timedelta())
        try:
            return await answer_log_query(query, at, open_store=self._open, limits=limits, topology=topology)
        except (SourceError, aiohttp.ClientError, TimeoutError) as error:
            return Blind(source=self.name, at=at, reason=str(error))

    async def range(
        self, query: LogQuery, *, start: datetime, end: datetime, step: timedelta
    ) -> tuple[Series, ...]:
        return await query_each_step(self, query, start=start, end=end, step=step)

    async def health(self, *, at: datetime) -> Blind | None:
        window = Window(since=at - timedelta(minutes=10), until=at + timedelta(days=1))
        page = await (await self._open(at)).read(LineSearch(window=window), {}, size=1)
        return None if page.hits else Blind(source=self.name, at=at, reason="it has no new line")

    async def hole(self, *, at: datetime) -> Blind | None:
        return None

    async def close(self) -> None:
        await self._session.close()

    async def lines(
        self, *, where: LineLabels, at: datetime, since: datetime | None = None, tail: int = 100
    ) -> Sequence[LogLine]:
        window = Window(since=since or at - timedelta(hours=1), until=at)
        store = await self._open(at)
        return shown_in_order(await store.read(LineSearch(window=window), exact_values(where), size=tail))

    async def page(
        self, *, where: LineLabels, since: datetime, until: datetime, size: int = 200, after: str = ""
    ) -> LinePage:
        window = Window(since=since, until=until)
        return await read_page(await self._open(until), where, window, size=size, after=after)


def _query(search: LineSearch, window: Window) -> Json:
    parts = [_matching(search.match), _within(window)]
    if search.level is not None:
        words = level_words(level for level in LogLevel if level >= search.level)
        parts.append({"terms": {FIELDS["level"]: words}})
    return _all(parts)


def _matching(match: LogMatch) -> Json:
    match match:
        case FieldPhrase():
            return _phrase(FIELDS.get(match.field, match.field), match.text)
        case Not():
            return _all([], but_not=[_matching(match.part)])
        case AllOf():
            return _all(map(_matching, match.parts))
        case AnyOf():
            return _any([_matching(part) for part in match.parts])


def _phrase(name: str, text: str) -> Json:
    return {"match_phrase": {name: text}}


def _exactly(label: str, value: str | None) -> Json:
    name = _field_of(label)
    return _all([], but_not=[{"exists": {"field": name}}]) if value is None else {"term": {name: value}}


def _within(window: Window) -> Json:
    bounds = {"gte": window.since.isoformat(), "lt": window.until.isoformat()}
    return {"range": {"@timestamp": bounds}}


def _all(parts: Any, *, but_not: Sequence[Json] = ()) -> Json:
    return {"bool": {"filter": list(parts), "must_not": list(but_not)}}


def _any(parts: Sequence[Json]) -> Json:
    return {"bool": {"should": list(parts), "minimum_should_match": 1}}


def _field_of(label: str) -> str:
    if label not in FIELDS:
        raise SourceError(f"`{label}` has no field", temporary=False)
    return FIELDS[label]


def _line_of(fields: Mapping[str, Sequence[str]], by: Sequence[str]) -> StoredLine:
    labels = Labels({name: label_value(name, fields.get(FIELDS[name], ())) for name in by})
    at = datetime.fromisoformat(fields["@timestamp"][0]).astimezone(UTC)
    return stored_line(fields["message"][0], at, labels, redact=_REDACT, fields=tuple(fields))
