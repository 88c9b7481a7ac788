"""The table of promises: what Yardmaster promises about alerts, which tests prove it, which figures measure it."""

from pathlib import Path

import msgspec

from docs.headed_tables import headed_tables, read_rows

PROMISES = Path(__file__).parent / "promises.yaml"


class Promise(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A promise, its tests as `file::function` below tests/, and ids of rows of the benchmarks."""

    promise: str
    tests: tuple[str, ...]
    figures: tuple[str, ...] = ()


def read_promises(path: Path = PROMISES) -> dict[str, tuple[Promise, ...]]:
    """Return the promises by their heading. Raises msgspec.ValidationError, which says where the file is wrong."""
    return read_rows(path, Promise)


def promises_part() -> str:
    """A table for each heading."""
    return headed_tables(read_promises(), ("Promise", "Proved by", "Measured by"), _cells)


def _cells(promise: Promise) -> tuple[str, ...]:
    tests = "<br>".join(_shown(one) for one in promise.tests)
    figures = ", ".join(f"[{id}](benchmarks.md)" for id in promise.figures)
    return promise.promise, tests, figures


def _shown(test: str) -> str:
    file, _, function = test.partition("::")
    said = function.removeprefix("test_").replace("_", " ")
    return f"[{said}](../tests/{file})"
