"""The store's errors, made of those of the database, and whether they last."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError

from alerts.store import StoreError
from bot.store.backends.backend import Backend

LASTING = 20.0  # seconds: another process may have locked it for a moment

_OURS = (DataError, IntegrityError, ProgrammingError)  # a statement is wrong, not the store


def unusable(backend: Backend, what: str, error: BaseException) -> StoreError:
    """Return the error that says what cannot be done with the store, why, and what to do."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    said = str(cause).partition("\n")[0]
    return StoreError(
        f"the store {backend.where} {what}: {said}: {backend.advice(cause)}", backend.reason(cause)
    )


@contextmanager
def as_store_errors(backend: Backend, what: str) -> Iterator[None]:
    """Raise StoreError for the database's errors, unless one of our statements is to blame."""
    theirs: tuple[type[Exception], ...] = (DBAPIError, ConnectionError, *backend.errors)
    try:
        yield
    except _OURS:
        raise
    except theirs as error:
        raise unusable(backend, what, error) from error


class WriteFailures:
    """The failures of writes since the last one that succeeded."""

    def __init__(self) -> None:
        self._first = 0.0
        self._last: StoreError | None = None

    def note(self, error: StoreError) -> None:
        if self._last is None:
            self._first = time.monotonic()
        self._last = error

    def end(self) -> None:
        self._last = None

    def lasting(self) -> StoreError | None:
        """Return the last failure if writes have failed for a while; None if the last one succeeded."""
        if self._last is None or time.monotonic() - self._first < LASTING:
            return None
        return self._last
