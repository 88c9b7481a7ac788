"""A look-alike of Elasticsearch in this process: start it, index documents, inject faults, stop it."""

import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import datetime

from aiohttp import web

from demo.lookalikes.elasticsearch.documents import TEMPLATE, TEMPLATE_NAME, index_of
from demo.lookalikes.elasticsearch.faults import Faults
from demo.lookalikes.elasticsearch.indices import TIME, Indices
from demo.lookalikes.elasticsearch.mappings import Json
from demo.lookalikes.elasticsearch.searching import Searches
from demo.lookalikes.elasticsearch.server import application

_HOST = "127.0.0.1"
_KEEP = 150_000  # documents


class ElasticsearchLookalike:
    """A server that answers the requests of our source and the demo's log shipper, and refuses others by name.

    `faults` makes it misbehave. Documents are searchable as soon as they are indexed.
    """

    def __init__(self, *, port: int = 0, keep: int = _KEEP) -> None:
        self._port = port
        self._indices = Indices(keep=keep)
        self._indices.put_template(TEMPLATE_NAME, TEMPLATE)
        self.faults = Faults()
        self._runner: web.AppRunner | None = None
        self._site: web.TCPSite | None = None
        self._searches = Searches(self._indices, time.monotonic)

    @classmethod
    @asynccontextmanager
    async def running(cls, *, port: int = 0, keep: int = _KEEP) -> AsyncIterator["ElasticsearchLookalike"]:
        """Run a look-alike for an `async with` block, on a free port unless one is given."""
        server = cls(port=port, keep=keep)
        await server.start()
        try:
            yield server
        finally:
            await server.stop()

    @property
    def url(self) -> str:
        """The address, which stays the same while the server is down."""
        return f"http://{_HOST}:{self._port}"

    @property
    def count(self) -> int:
        """The number of documents in all indices."""
        return self._indices.count

    @property
    def open_points(self) -> int:
        """The number of open points in time."""
        return self._searches.open_points

    async def start(self) -> None:
        self._runner = web.AppRunner(
            application(self._indices, self._searches, self.faults), access_log=None, shutdown_timeout=1.0
        )
        await self._runner.setup()
        await self._listen()

    async def stop(self) -> None:
        self.faults.heal()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = self._site = None

    async def index(self, documents: Iterable[Json], *, into: str = "") -> None:
        """Index documents, each into `into` or the daily index of its time. Raises RefusalError for a misfit."""
        for document in documents:
            name = into or index_of(datetime.fromisoformat(str(document[TIME])))
            self._indices.add(name, document)

    async def down(self) -> None:
        """Refuse connections and break the open ones; documents stay."""
        self.faults.is_down = True
        if self._site is not None:
            await self._site.stop()
            self._site = None

    async def up(self) -> None:
        """Listen again, on the same address."""
        self.faults.is_down = False
        await self._listen()

    async def _listen(self) -> None:
        assert self._runner is not None
        self._site = web.TCPSite(self._runner, _HOST, self._port)
        await self._site.start()
        if not self._port:
            self._port = int(self._runner.addresses[0][1])
