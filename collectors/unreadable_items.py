"""Items of an answer that could not be read: each is skipped and counted, so that the others still count."""

from collections.abc import Callable

import structlog

_AT_MOST = 1_000  # reasons that are remembered

_log = structlog.get_logger()


class UnreadableItems:
    """Where a source reports what it skipped. `count` is called with the source's name, once for each item.

    A reason is logged once: the same item comes back in every answer.
    """

    def __init__(self, count: Callable[[str], None] = lambda _source: None) -> None:
        self._count = count
        self._logged: set[tuple[str, str]] = set()

    def skip(self, source: str, reason: str) -> None:
        """Report one item. `reason` says what is wrong with it, without its content."""
        self._count(source)
        if (source, reason) not in self._logged and len(self._logged) < _AT_MOST:
            self._logged.add((source, reason))
            _log.warning("skipped an item that cannot be read", source=source, reason=reason)
