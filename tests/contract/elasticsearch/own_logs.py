"""This file has what a contract test does with its logs: index documents, ask, read the answer."""

import itertools
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

from elasticsearch import AsyncElasticsearch

from collectors.facts.queries import LogQuery
from collectors.facts.results import Blind, QueryResult, Seen
from collectors.sources.elasticsearch import ElasticsearchOptions, ElasticsearchSource
from demo.lookalikes.elasticsearch.documents import TEMPLATE
from tests.support.log_documents import host_line, pod_line

NOW = datetime(2026, 1, 10, 12, 0, tzinfo=UTC)
Json = dict[str, Any]

_numbers = itertools.count(1)


class Logs:
    """Indices of one test, and sources to them. Times are in seconds before `NOW`."""

    now = NOW

    def __init__(self, kind: str, url: str, client: AsyncElasticsearch, stack: AsyncExitStack) -> None:
        self.kind = kind  # "look-alike" or "real"
        self.url = url
        self.client = client
        self.prefix = f"contract-{next(_numbers)}"
        self.pattern = f"{self.prefix}-*"
        self._stack = stack

    async def prepare(self) -> None:
        """Give the index `logs` the mapping that the demo's shipper gives its own; others have none."""
        await self.client.indices.put_index_template(
            name=self.prefix,
            index_patterns=[f"{self.prefix}-logs*"],
            priority=300,
            template=TEMPLATE["template"],
        )

    async def create(self, name: str, properties: Mapping[str, Any]) -> None:
        """Make an index with other fields than the shipper's."""
        await self.client.indices.create(
            index=f"{self.prefix}-{name}",
            mappings={"properties": {"@timestamp": {"type": "date"}, **properties}},
            settings={"number_of_shards": 1, "number_of_replicas": 0},
        )

    async def index(self, *documents: Json, into: str = "logs") -> None:
        """Index documents; they can be found when it returns."""
        await self.index_many(documents, into=into)

    async def index_many(self, documents: Iterable[Json], *, into: str = "logs") -> None:
        left = iter(documents)
        while some := list(itertools.islice(left, 2_000)):
            action = {"create": {"_index": f"{self.prefix}-{into}"}}
            operations = [part for document in some for part in (action, document)]
            told = await self.client.options(request_timeout=60).bulk(operations=operations)
            assert not told["errors"], [item for item in told["items"] if "error" in item["create"]][:1]
        await self.client.indices.refresh(index=self.pattern)

    def source(self, **settings: Any) -> ElasticsearchSource:
        """A source to our indices, without a lag unless told; it is closed at the end of the test."""
        asked = {"index": self.pattern, "lag": timedelta(), **settings}
        source = ElasticsearchSource(ElasticsearchOptions(urls=(self.url,), **asked))
        self._stack.push_async_callback(source.close)
        return source

    async def ask(self, match: str = "*", **query: Any) -> QueryResult:
        """Ask a new source, by node and over five minutes unless told."""
        settings = query.pop("settings", {})
        asked = {"by": ("node",), "over": timedelta(minutes=5), **query}
        return await self.source(**settings).search(LogQuery(match=match, **asked), at=NOW)

    async def counts(self, match: str = "*", **query: Any) -> dict[str, float]:
        """The counts of an answer that must be Seen, by the labels in writing: `gpu-a01` or `gpu-a01 error`."""
        seen = await self.ask(match, **query)
        assert isinstance(seen, Seen), seen
        return {" ".join(sample.labels.values()): sample.value for sample in seen.samples}

    async def why_blind(self, match: str = "*", **query: Any) -> str:
        """The reason of an answer that must be Blind."""
        blind = await self.ask(match, **query)
        assert isinstance(blind, Blind), blind
        return blind.reason

    @staticmethod
    def host(
        message: str, *, ago: float = 60, node: str = "gpu-a01", unit: str = "kernel", level: str = ""
    ) -> Json:
        """A line of a host's journal."""
        return host_line(NOW - timedelta(seconds=ago), message, node=node, unit=unit, level=level)

    @staticmethod
    def pod(message: str, *, ago: float = 60, pod: str = "detr-worker-0", **more: Any) -> Json:
        """A line of a container."""
        told = {"node": "gpu-a01", "namespace": "vision-detr", "container": "worker", **more}
        return pod_line(NOW - timedelta(seconds=ago), message, pod=pod, **told)
