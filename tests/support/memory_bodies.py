"""The bodies that an inbox of alerts keeps, in memory, equivalent to the file."""

import asyncio
from collections.abc import Sequence

from alerts.kept_bodies import Numbered
from alerts.store import StoreError


class MemoryBodies:
    """Survives its process, as a file does. Each call yields to the event loop before and after it takes effect."""

    def __init__(self) -> None:
        self.kept: dict[int, bytes] = {}
        self.fails = False

    async def append(self, bodies: Sequence[Numbered]) -> None:
        await asyncio.sleep(0)
        if self.fails:
            raise StoreError("disk full")
        assert not self.kept.keys() & dict(bodies).keys()
        self.kept |= dict(bodies)
        await asyncio.sleep(0)

    async def read(self) -> Sequence[Numbered]:
        await asyncio.sleep(0)
        return sorted(self.kept.items())

    async def close(self) -> None:
        """Do nothing: the bodies stay, as in a file."""

    async def drop(self, last: int) -> None:
        await asyncio.sleep(0)
        self.kept = {number: body for number, body in self.kept.items() if number > last}
        await asyncio.sleep(0)
