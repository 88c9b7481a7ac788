"""The event loop's lag: everything runs on it, and Slack waits three seconds for an acknowledgement."""

import asyncio
from collections.abc import Callable

EVERY = 1.0  # seconds


class EventLoopLag:
    """Measures how late the event loop runs a timer, in seconds."""

    def __init__(self, observe: Callable[[float], None]) -> None:
        self._observe = observe

    async def run(self) -> None:
        """Run until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + EVERY
            await asyncio.sleep(EVERY)
            self._observe(max(0.0, loop.time() - due))
