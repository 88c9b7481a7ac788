"""A connection to a server on loopback that can be cut and restored."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class SeveredLink:
    """Forwards bytes to a port. `cut` ends every connection and refuses new ones until `restore`."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self.port = 0

    @classmethod
    @asynccontextmanager
    async def to(cls, target: int) -> AsyncIterator["SeveredLink"]:
        link = cls(target)
        await link.restore()
        try:
            yield link
        finally:
            await link.cut()

    async def restore(self) -> None:
        self._server = await asyncio.start_server(self._forward, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        if self._server is not None:
            self._server.close()
        for writer in self._open:
            writer.transport.abort()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            with suppress(OSError):
                there, back = await asyncio.open_connection("127.0.0.1", self._target)
                self._open.add(back)
                try:
                    await asyncio.gather(_copy(reader, back), _copy(there, writer))
                finally:
                    self._open.discard(back)
                    back.close()
        finally:
            self._open.discard(writer)
            writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await reader.read(1 << 16):
            writer.write(chunk)
            await writer.drain()
    with suppress(OSError):
        if writer.can_write_eof():
            writer.write_eof()
