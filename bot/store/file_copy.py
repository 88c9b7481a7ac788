"""Copies of a store's file: kept beside it before a migration, and backups that people make."""

import os
import shutil
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path


def copy_store(file: Path, *, revision: str, now: datetime) -> Path:
    """Copy an open SQLite file beside it, and return the copy's path: named by its revision and the time.

    Raises sqlite3.Error or OSError, and leaves nothing behind then.
    """
    return copy_file(file, file.with_name(f"{file.name}.{revision}.{now:%Y%m%dT%H%M%SZ}"))


def copy_file(file: Path, target: Path) -> Path:
    """Copy an SQLite file, whole or not at all, whoever has it open, and return the target.

    Raises sqlite3.Error or OSError, and leaves nothing behind then.
    """
    partial = target.with_name(f"{target.name}.partial")
    try:
        with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(partial)) as sink:
            source.backup(sink)
        shutil.copymode(file, partial)
        with partial.open("rb+") as written:
            os.fsync(written.fileno())
        partial.replace(target)
    except BaseException:
        if partial.is_file():
            partial.unlink()
        raise
    return target


def put_in_place(backup: Path, file: Path, *, now: datetime) -> Path | None:
    """Put a copy of the backup in the place of a store that nobody holds; return where what was there is kept.

    Raises sqlite3.Error or OSError. What was there is moved away last, so a failure before leaves it in place.
    """
    restored = copy_file(backup, file.with_name(f"{file.name}.restored"))
    kept = None
    if file.exists():
        kept = file.with_name(f"{file.name}.replaced.{now:%Y%m%dT%H%M%SZ}")
        for ending in ("-wal", "-shm"):  # what is in the log belongs to the file that is replaced
            log = file.with_name(f"{file.name}{ending}")
            if log.exists():
                log.replace(kept.with_name(f"{kept.name}{ending}"))
        file.replace(kept)
    restored.replace(file)
    return kept


def earlier_copies(file: Path, *, revision: str, but: Path) -> list[Path]:
    """Return the other copies of this revision that are kept beside the file, oldest first."""
    names = f"{file.name}.{revision}."
    return sorted(
        path
        for path in file.parent.iterdir()
        if path.name.startswith(names) and path.suffix != ".partial" and path != but
    )
