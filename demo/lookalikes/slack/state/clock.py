"""The workspace's clock, which a test can advance."""

import asyncio
from datetime import datetime, timedelta

from collectors.facts.clock import Clock


class WorkspaceClock:
    """The given clock plus the time by which it was advanced."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead = timedelta()
        self._sleepers: set[asyncio.Future[None]] = set()
        self._last_ts = 0

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return self._clock.now() + self._ahead

    def tick(self) -> float:
        """Return monotonic seconds, for rates and waits."""
        return asyncio.get_running_loop().time() + self._ahead.total_seconds()

    def next_ts(self) -> str:
        """Return a message's `ts`: seconds with six decimals, later than any before."""
        self._last_ts = max(round(self.now().timestamp() * 1_000_000), self._last_ts + 1)
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    def forward(self, by: timedelta) -> None:
        """Advance the clock and wake the sleepers to check their time."""
        self._ahead += by
        for sleeper in self._sleepers:
            if not sleeper.done():
                sleeper.set_result(None)

    async def sleep(self, seconds: float) -> None:
        """Sleep for `seconds` of this clock."""
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
