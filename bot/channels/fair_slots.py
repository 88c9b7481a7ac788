"""Fair slots: which of the lines that wait may begin, so that nobody waits for the slow lines of somebody else."""

from collections import Counter
from dataclasses import dataclass

AT_ONCE = 16  # lines that run, of people who have one running already
SHARE = 4  # of them, of one person
MOST = 64  # lines that run, of all people


@dataclass(frozen=True, slots=True)
class SenderLane:
    """The lines of one person: those that read apart from those that change something, such as a confirmation."""

    person: str
    changes: bool


class FairSlots:
    """The first line of each lane begins at once, as long as any can; further ones share what is left."""

    def __init__(self) -> None:
        self._running: Counter[SenderLane] = Counter()

    def may_begin(self, lane: SenderLane) -> bool:
        own, total = self._running[lane], self._running.total()
        return total < MOST and (own == 0 or (own < SHARE and total < AT_ONCE))

    def begin(self, lane: SenderLane) -> None:
        self._running[lane] += 1

    def end(self, lane: SenderLane) -> None:
        self._running[lane] -= 1
        if not self._running[lane]:
            del self._running[lane]
