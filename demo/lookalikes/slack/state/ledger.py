"""The record of every Web API call, so that tests can count them."""

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call and its outcome."""

    at: datetime
    method: str
    #: The arguments without tokens.
    arguments: dict[str, Any]
    #: `ok`, Slack's error, or `lost` (executed, but the response never arrived).
    outcome: str
    status: int


class Ledger:
    """The last `size` calls, and the counts of all calls."""

    def __init__(self, size: int = 50_000) -> None:
        self._calls: deque[Call] = deque(maxlen=size)
        self.counts: Counter[tuple[str, str]] = Counter()

    def note(self, call: Call) -> None:
        """Record a call."""
        self._calls.append(call)
        self.counts[call.method, call.outcome] += 1

    def __iter__(self) -> Iterator[Call]:
        return iter(self._calls)

    def __len__(self) -> int:
        return sum(self.counts.values())

    def of(self, method: str, outcome: str | None = None) -> list[Call]:
        """Return the recorded calls of one method, in order."""
        return [call for call in self._calls if call.method == method and outcome in (None, call.outcome)]

    def count(self, method: str, outcome: str | None = None) -> int:
        """Return how often a method was called, including calls no longer recorded."""
        return sum(
            number
            for (name, result), number in self.counts.items()
            if name == method and outcome in (None, result)
        )
