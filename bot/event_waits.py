"""Waits for an event that end without it after a time."""

import asyncio


async def set_within(event: asyncio.Event, seconds: float | None) -> bool:
    """Wait until the event is set, at most this long; None is for ever. Return whether it is set."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
