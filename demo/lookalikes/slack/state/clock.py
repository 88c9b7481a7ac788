"""This file holds the look-alike's hands of the clock, which a test may push forward."""

import asyncio
from datetime import datetime, timedelta

from collectors.facts.clock import Clock


class WorkspaceClock:
    """The time here: the clock's, plus whatever it was pushed forward by."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead = timedelta()
        self._sleepers: set[asyncio.Future[None]] = set()
        self._last_ts = 0

    def now(self) -> datetime:
        """The moment, in UTC."""
        return self._clock.now() + self._ahead

    def tick(self) -> float:
        """Seconds that never go back, for rates and waits."""
        return asyncio.get_running_loop().time() + self._ahead.total_seconds()

    def next_ts(self) -> str:
        """A message's `ts`: seconds with six places, later than any before."""
        self._last_ts = max(round(self.now().timestamp() * 1_000_000), self._last_ts + 1)
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    def forward(self, by: timedelta) -> None:
        """Push the time forward and wake those whose time has come."""
        self._ahead += by
        for sleeper in self._sleepers:
            if not sleeper.done():
                sleeper.set_result(None)

    async def sleep(self, seconds: float) -> None:
        """Wait that long in the time here."""
        due = self.tick() + seconds
        while (left := due - self.tick()) > 0:
            sleeper: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._sleepers.add(sleeper)
            try:
                await asyncio.wait_for(sleeper, left)
            except TimeoutError:
                return
            finally:
                self._sleepers.discard(sleeper)
