"""A look-alike of Elasticsearch with the demo's index template, for the cases of the shipped log rules."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Self

import aiohttp

from collectors.sources.elasticsearch.options import ElasticsearchOptions
from collectors.sources.elasticsearch.source import ElasticsearchSource
from demo.lookalikes.elasticsearch.lookalike import ElasticsearchLookalike
from demo.world.layout import demo_layout
from demo.world.logs.line import Document, document
from demo.world.logs.shipper import INDEX, TEMPLATE, bulk
from demo.world.state import State, initial_state
from tests.alerts.packs.log_case import LogEvent
from tests.support.objects import NOW


class Logs:
    """A look-alike with the demo's index template, and a source to it."""

    def __init__(self, es: ElasticsearchLookalike, source: ElasticsearchSource) -> None:
        self.es = es
        self.source = source
        self._state: State = initial_state(demo_layout(), NOW)

    @classmethod
    @asynccontextmanager
    async def running(cls) -> AsyncIterator[Self]:
        async with ElasticsearchLookalike.running() as es:
            settings = ElasticsearchOptions(
                urls=(es.url,), index="logs-*", lag=timedelta(), timeout=timedelta(seconds=20)
            )
            async with ElasticsearchSource(settings) as source:
                yield cls(es, source)

    async def ship(self, *events: LogEvent) -> None:
        """Ship these events, and one line for each day before, so that no day is without logs."""
        daily = [LogEvent(what="kubelet-start", ago=60 + day * 86_400) for day in range(8)]
        lines = [line for one in (*daily, *events) for line in one.lines(self._state)]
        documents: list[Document] = [made for line in lines if (made := document(line, self._state))]
        assert len(documents) == len(lines)
        async with aiohttp.ClientSession() as session:
            await self._call(session, "PUT", "_index_template/logs-k8s", json.dumps(TEMPLATE).encode())
            await self._call(session, "POST", "_bulk", bulk(documents, INDEX))

    async def _call(self, session: aiohttp.ClientSession, method: str, path: str, body: bytes) -> None:
        kind = "application/x-ndjson" if path == "_bulk" else "application/json"
        async with session.request(
            method, f"{self.es.url}/{path}", data=body, headers={"Content-Type": kind}
        ) as reply:
            assert reply.status < 300, await reply.text()
            assert not (await reply.json()).get("errors")
