"""The file of an SQLite store: held by one process, and looked after while it is open.

The hold is a lock of the operating system on a file beside it, so it ends with its process, however that ends. SQLite's
write-ahead log works within one machine only, and so does the lock.
"""

import asyncio
import fcntl
import json
import os
import socket
from datetime import timedelta
from pathlib import Path
from typing import IO

import structlog

from alerts.store import StoreError
from collectors.facts.clock import SystemClock
from collectors.facts.sentences import sentence

HELD_FOR = timedelta(seconds=10)  # how long to wait for a process that is stopping
_LOOK_EVERY = timedelta(milliseconds=50)

_Identity = tuple[int, int]  # device and inode

_log = structlog.get_logger()


class StoreGoneError(StoreError):
    """The file of the store is no longer where it was opened. Nothing is written to it."""

    def __init__(self, text: str) -> None:
        super().__init__(text, sentence("the file of its store is gone"))


class StoreFile:
    """An open store's file. `why_gone` says whether it is still the one that was opened."""

    def __init__(self, path: Path, lock: IO[str] | None) -> None:
        self._path = path
        self._lock = lock
        self._opened = _identity(path)

    def why_gone(self) -> str:
        """Return what happened to the file, and what to do; empty if it is still there."""
        if _identity(self._path) == self._opened and self._holds():
            return ""
        what = "replaced" if self._path.exists() else "deleted"
        return (
            f"the store {self._path} was {what} while Yardmaster runs: nothing is stored until that file is back. "
            "Move it back; or stop Yardmaster, restore a backup with `yardmaster store restore`, and start it"
        )

    def check(self) -> None:
        """Raise StoreGoneError if the file is gone."""
        if reason := self.why_gone():
            raise StoreGoneError(reason)

    def release(self) -> None:
        if self._lock is not None:
            self._lock.close()

    def _holds(self) -> bool:
        """Whether others would find our lock: its file may have been deleted."""
        if self._lock is None:
            return True
        held = os.fstat(self._lock.fileno())
        return _identity(lock_of(self._path)) == (held.st_dev, held.st_ino)


def lock_of(path: Path) -> Path:
    """Return the file that is locked while a process holds the store."""
    return path.with_name(f"{path.name}.lock")


async def hold(path: Path) -> IO[str]:
    """Hold the store until the returned file is closed. Raises StoreError if another process goes on holding it."""
    tries = round(HELD_FOR / _LOOK_EVERY)
    for attempt in range(tries):
        if (lock := try_to_hold(path)) is not None:
            return lock
        if attempt == 0:
            _log.warning("another process holds the store, waiting", holder=holder_of(path))
        await asyncio.sleep(_LOOK_EVERY.total_seconds())
    raise StoreError(
        f"the store {path} is held by another Yardmaster ({holder_of(path)}), which this one would work against: "
        "stop it, or give each its own store.url"
    )


def try_to_hold(path: Path) -> IO[str] | None:
    """Hold the store until the returned file is closed; None if another process holds it. Raises OSError."""
    lock = lock_of(path).open("a+", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    lock.truncate(0)
    json.dump(
        {"host": socket.gethostname(), "pid": os.getpid(), "since": f"{SystemClock().now():%FT%TZ}"}, lock
    )
    lock.flush()
    return lock


def holder_of(path: Path) -> str:
    """Return who holds the store, or held it last."""
    try:
        holder = json.loads(lock_of(path).read_text("utf-8"))
        return f"process {holder['pid']} on {holder['host']}, since {holder['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "an unknown process"


def _identity(path: Path) -> _Identity | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
