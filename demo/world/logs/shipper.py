"""Bulk shipping of documents to Elasticsearch, with retries and a bounded queue, as Filebeat does."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from dataclasses import dataclass, field
from datetime import timedelta

import aiohttp

from demo.world.logs.line import Document

LOG = logging.getLogger(__name__)
INDEX = "logs-k8s-default"
KEPT = 50_000  # queued documents; beyond it the oldest are dropped
BATCH = 500  # documents in one request, well below a megabyte
TEMPLATE = {
    "index_patterns": ["logs-k8s-*"],
    "priority": 500,  # above the built-in template for logs-*-*
    "template": {
        "settings": {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "1s"},
        "mappings": {
            "dynamic_templates": [
                {
                    "strings": {
                        "match_mapping_type": "string",
                        "mapping": {"type": "keyword", "ignore_above": 1024},
                    }
                }
            ],
            "properties": {
                "@timestamp": {"type": "date"},
                "message": {"type": "text"},
                "event": {"properties": {"ingested": {"type": "date"}}},
            },
        },
    },
}


@dataclass(slots=True)
class Shipper:
    """A queue in front of Elasticsearch. With an empty `url` nothing is shipped."""

    url: str
    index: str = INDEX
    every: timedelta = timedelta(seconds=1)
    dropped: int = 0
    shipped: int = 0
    _waiting: deque[Document] = field(default_factory=deque)

    def add(self, document: Document) -> None:
        if not self.url:
            return
        if len(self._waiting) >= KEPT:
            self._waiting.popleft()
            self.dropped += 1
        self._waiting.append(document)

    async def run(self) -> None:
        """Ship until cancelled."""
        if not self.url:
            return
        limit = aiohttp.ClientTimeout(total=20)
        async with aiohttp.ClientSession(timeout=limit) as session:
            is_ready = False
            while True:
                try:
                    is_ready = is_ready or await self._prepare(session)
                    while is_ready and self._waiting:
                        await self._ship(session)
                except (aiohttp.ClientError, TimeoutError, OSError) as error:
                    LOG.warning("cannot ship documents to Elasticsearch at %s: %s", self.url, error)
                await asyncio.sleep(self.every.total_seconds())

    async def _prepare(self, session: aiohttp.ClientSession) -> bool:
        path = f"{self.url.rstrip('/')}/_index_template/logs-k8s"
        async with session.put(path, json=TEMPLATE) as reply:
            if reply.status >= 400:
                LOG.warning("index template rejected with %s: %s", reply.status, (await reply.text())[:300])
            return True

    async def _ship(self, session: aiohttp.ClientSession) -> None:
        batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
        try:
            await self._post(session, batch)
        except BaseException:
            self._waiting.extendleft(reversed(batch))
            raise
        self.shipped += len(batch)

    async def _post(self, session: aiohttp.ClientSession, batch: list[Document]) -> None:
        async with session.post(
            f"{self.url.rstrip('/')}/_bulk",
            data=bulk(batch, self.index),
            headers={"Content-Type": "application/x-ndjson"},
        ) as reply:
            if reply.status >= 400:
                raise aiohttp.ClientError(f"_bulk returned {reply.status}: {(await reply.text())[:300]}")
            answer = await reply.json()
        if answer.get("errors"):
            first = next(item["create"] for item in answer["items"] if item["create"].get("error"))
            LOG.warning("Elasticsearch rejected some documents: %s", first)


def bulk(documents: list[Document], index: str) -> bytes:
    """Return a `_bulk` body that creates the documents in `index`."""
    head = json.dumps({"create": {"_index": index}})
    return "".join(f"{head}\n{json.dumps(document)}\n" for document in documents).encode()
