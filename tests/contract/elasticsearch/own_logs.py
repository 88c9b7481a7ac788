"""The logs of one contract test: indexing of documents, and queries."""

import itertools
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

from elasticsearch import AsyncElasticsearch

from collectors.facts.log_match import EVERY_LINE
from collectors.facts.queries import LogQuery
from collectors.facts.results import Blind, QueryResult, Seen
from collectors.sources.elasticsearch.options import ElasticsearchOptions
from collectors.sources.elasticsearch.source import ElasticsearchSource
from demo.lookalikes.elasticsearch.documents import TEMPLATE
from tests.support.log_documents import host_line, pod_line
from tests.support.log_matches import query_string

NOW = datetime(2026, 1, 10, 12, 0, tzinfo=UTC)
FIXTURES = {"real": "real_elasticsearch", "real 7.17": "real_elasticsearch_7"}  # of the servers, by kind
Json = dict[str, Any]

_numbers = itertools.count(1)


class Logs:
    """Indices of one test, and sources to them. Times are in seconds before `NOW`."""

    now = NOW

    def __init__(self, kind: str, url: str, client: AsyncElasticsearch, stack: AsyncExitStack) -> None:
        self.kind = kind  # "look-alike" or one of FIXTURES
        self.url = url
        self.client = client
        self.prefix = f"contract-{next(_numbers)}"
        self.pattern = f"{self.prefix}-*"
        self._stack = stack

    async def prepare(self) -> None:
        """Give the index `logs` the mapping of the demo's log shipper; other indices have none."""
        await self.client.indices.put_index_template(
            name=self.prefix,
            index_patterns=[f"{self.prefix}-logs*"],
            priority=300,
            template=TEMPLATE["template"],
        )

    async def create(self, name: str, properties: Mapping[str, Any]) -> None:
        """Create an index with other fields than the log shipper's."""
        await self.client.indices.create(
            index=f"{self.prefix}-{name}",
            mappings={"properties": {"@timestamp": {"type": "date"}, **properties}},
            settings={"number_of_shards": 1, "number_of_replicas": 0},
        )

    async def index(self, *documents: Json, into: str = "logs") -> None:
        """Index documents; they are searchable when it returns."""
        await self.index_many(documents, into=into)

    async def index_many(self, documents: Iterable[Json], *, into: str = "logs") -> None:
        remaining = iter(documents)
        while batch := list(itertools.islice(remaining, 2_000)):
            action = {"create": {"_index": f"{self.prefix}-{into}"}}
            operations = [part for document in batch for part in (action, document)]
            result = await self.client.options(request_timeout=60).bulk(operations=operations)
            assert not result["errors"], [item for item in result["items"] if "error" in item["create"]][:1]
        await self.client.indices.refresh(index=self.pattern)

    def source(self, **settings: Any) -> ElasticsearchSource:
        """Return a source for these indices, by default without a lag; it is closed at the end of the test."""
        options = {"index": self.pattern, "lag": timedelta(), **settings}
        source = ElasticsearchSource(ElasticsearchOptions(urls=(self.url,), **options))
        self._stack.push_async_callback(source.close)
        return source

    async def query(self, match: str = "*", **query: Any) -> QueryResult:
        """Query a new source with a query string, by default by node and over five minutes; `match_` is neutral."""
        settings = query.pop("settings", {})
        options = {"by": ("node",), "over": timedelta(minutes=5), **query}
        neutral = options.pop("match_", EVERY_LINE)
        asked = LogQuery(match=neutral, store_match=query_string(match), **options)
        return await self.source(**settings).query(asked, at=NOW)

    async def counts(self, match: str = "*", **query: Any) -> dict[str, float]:
        """Return the counts of a result that must be Seen, by label values: `gpu-a01` or `gpu-a01 error`."""
        seen = await self.query(match, **query)
        assert isinstance(seen, Seen), seen
        return {" ".join(sample.labels.values()): sample.value for sample in seen.samples}

    async def blind_reason(self, match: str = "*", **query: Any) -> str:
        """Return the reason of a result that must be Blind."""
        blind = await self.query(match, **query)
        assert isinstance(blind, Blind), blind
        return blind.reason

    @staticmethod
    def host(
        message: str, *, ago: float = 60, node: str = "gpu-a01", unit: str = "kernel", level: str = ""
    ) -> Json:
        """Return a line of a host's journal."""
        return host_line(NOW - timedelta(seconds=ago), message, node=node, unit=unit, level=level)

    @staticmethod
    def pod(message: str, *, ago: float = 60, pod: str = "detr-worker-0", **more: Any) -> Json:
        """Return a line of a container."""
        fields = {"node": "gpu-a01", "namespace": "vision-detr", "container": "worker", **more}
        return pod_line(NOW - timedelta(seconds=ago), message, pod=pod, **fields)
