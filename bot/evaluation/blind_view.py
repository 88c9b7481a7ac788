"""Which sources are blind and why, as incident cards show it: when the cards have to be composed again."""

import re
from collections.abc import Mapping
from datetime import timedelta

REASON_PACE = timedelta(minutes=1)  # between two changes of a reason alone

_AMOUNT = re.compile(r"\d[\d:.,]*(?: (?:d|h|min|s)\b)?(?: \d+ (?:h|min|s)\b)*")


class BlindView:
    """What the cards show. Another source counts at once, another reason once in a while: it may alternate."""

    def __init__(self) -> None:
        self._shown: Mapping[str, str] = {}
        self._changed_at = timedelta()

    def follow(self, blind: Mapping[str, str], elapsed: timedelta) -> bool:
        """Return whether the cards have to show `blind` (source -> reason) instead of what they show."""
        found = {source: blind_kind(reason) for source, reason in blind.items()}
        if found == self._shown:
            return False
        if found.keys() == self._shown.keys() and elapsed - self._changed_at < REASON_PACE:
            return False
        self._shown, self._changed_at = found, elapsed
        return True


def blind_kind(reason: str) -> str:
    """Return a reason without its numbers, times and durations: they may change in each cycle."""
    return _AMOUNT.sub("…", reason)
