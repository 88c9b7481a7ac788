"""A sampler of how busy the machine is."""

import time
from pathlib import Path

_EVERY = 0.1  # seconds
_STAT = Path("/proc/stat")


class BusyMachine:
    """How busy the machine is from now on: call `look` until it is over."""

    def __init__(self) -> None:
        self._looks = 0
        self._none_works = 0  # looks at which no thread but our own ran or wanted to
        self._began = time.monotonic()
        self._busy, self._idle, _ = _read()

    def look(self) -> None:
        """Wait for a moment, and look."""
        time.sleep(_EVERY)
        self._looks += 1
        self._none_works += _read()[2] <= 1  # we run ourselves

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    @property
    def share_without_work(self) -> float:
        """The share of the time in which no core works."""
        return self._none_works / max(self._looks, 1)

    @property
    def idle_share(self) -> float:
        """The share of all cores' time in which they do not work."""
        busy, idle, _ = _read()
        return (idle - self._idle) / max(busy - self._busy + idle - self._idle, 1)


def _read() -> tuple[int, int, int]:
    """Return the ticks in which cores worked and did not, and how many threads run or want to."""
    lines = _STAT.read_text(encoding="utf-8").splitlines()
    user, nice, system, idle, iowait, irq, softirq, steal, *_ = map(int, lines[0].split()[1:])
    running = next(int(line.split()[1]) for line in lines if line.startswith("procs_running "))
    return user + nice + system + irq + softirq + steal, idle + iowait, running
