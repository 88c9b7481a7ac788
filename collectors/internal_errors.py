"""Containment of unexpected errors: each is logged under a reference, counted, and described in one line."""

import time
from collections.abc import Callable
from hashlib import blake2b
from traceback import extract_tb

import structlog

from collectors.facts.sentences import sentence

LOGGED_AGAIN_AFTER = 600.0  # seconds: the same error may come back in every cycle
_MAX_LOGGED = 1_000  # references that are remembered

_log = structlog.get_logger()


class InternalErrors:
    """Where a part reports a bug that it contained, so that the other parts go on.

    `count` is called with the component's name each time: a source, `check`, `rule`, `plan`, `card` and so on.
    """

    def __init__(self, count: Callable[[str], None] = lambda _component: None) -> None:
        self._count = count
        self._logged: dict[str, float] = {}

    def contain(self, error: Exception, component: str, **about: object) -> str:
        """Log the error with its traceback, now and then, and return what people may read of it.

        The same error at the same place keeps its reference, so that what shows it does not change. Its own text
        stays in the log: it may hold whatever a server sent.
        """
        while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        self._count(component)
        kind, frames = type(error).__name__, extract_tb(error.__traceback__)
        place = (frames[-1].filename, frames[-1].lineno) if frames else ()
        identity = repr((component, sorted(about.items()), kind, place))
        reference = blake2b(identity.encode("utf-8", "replace"), digest_size=4).hexdigest()
        now = time.monotonic()
        if now - self._logged.get(reference, -LOGGED_AGAIN_AFTER) >= LOGGED_AGAIN_AFTER:
            if len(self._logged) >= _MAX_LOGGED:
                self._logged.clear()
            self._logged[reference] = now
            _log.error("internal error", component=component, reference=reference, exc_info=error, **about)
        return sentence(
            "internal error {kind}; find `{reference}` in the log of Yardmaster",
            kind=kind,
            reference=reference,
        )
