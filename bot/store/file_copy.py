"""Copies of a store's file, kept beside it before a migration."""

import os
import shutil
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path


def copy_store(file: Path, *, revision: str, now: datetime) -> Path:
    """Copy an open SQLite file, whole or not at all, and return the copy's path: named by its revision and the time.

    Raises sqlite3.Error or OSError, and leaves nothing behind then.
    """
    target = file.with_name(f"{file.name}.{revision}.{now:%Y%m%dT%H%M%SZ}")
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


def earlier_copies(file: Path, *, revision: str, but: Path) -> list[Path]:
    """Return the other copies of this revision that are kept beside the file, oldest first."""
    names = f"{file.name}.{revision}."
    return sorted(
        path
        for path in file.parent.iterdir()
        if path.name.startswith(names) and path.suffix != ".partial" and path != but
    )
