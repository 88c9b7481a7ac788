"""This file keeps the account of every call of the Web API, so that tests count what was asked."""

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call: what was asked and how it went."""

    at: datetime
    method: str
    #: The arguments, tokens left out.
    arguments: dict[str, Any]
    #: `ok`, Slack's error word, or `lost` (done, but the answer never arrived).
    outcome: str
    status: int


class Ledger:
    """The last `size` calls and responses, and how many there were in all."""

    def __init__(self, size: int = 50_000) -> None:
        self._calls: deque[Call] = deque(maxlen=size)
        self.counts: Counter[tuple[str, str]] = Counter()

    def note(self, call: Call) -> None:
        """Write a call down."""
        self._calls.append(call)
        self.counts[call.method, call.outcome] += 1

    def __iter__(self) -> Iterator[Call]:
        return iter(self._calls)

    def __len__(self) -> int:
        return sum(self.counts.values())

    def of(self, method: str, outcome: str | None = None) -> list[Call]:
        """The kept calls of one method, in order."""
        return [call for call in self._calls if call.method == method and outcome in (None, call.outcome)]

    def count(self, method: str, outcome: str | None = None) -> int:
        """How often a method was called, also beyond what is kept."""
        return sum(
            number
            for (name, went), number in self.counts.items()
            if name == method and outcome in (None, went)
        )
