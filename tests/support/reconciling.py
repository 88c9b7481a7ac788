"""The loop of a look-alike of a controller."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from collectors.facts.results import SourceError


async def reconcile_all(
    call: Callable[[str, str], Awaitable[Any]], path: str, reconcile: Callable[[Any], Awaitable[None]]
) -> None:
    """Reconcile every object at this path, again and again, until cancelled."""
    while True:
        with suppress(SourceError):  # the definition is gone
            for one in (await call("GET", path))["items"]:
                with suppress(SourceError):  # another client was faster
                    await reconcile(one)
        await asyncio.sleep(0.02)
