"""The table of promises: what Yardmaster promises about alerts, which tests prove it, which figures measure it."""

from pathlib import Path

import msgspec
import yaml

PROMISES = Path(__file__).parent / "promises.yaml"


class Promise(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A promise, its tests as `file::function` below tests/, and ids of rows of the benchmarks."""

    promise: str
    tests: tuple[str, ...]
    figures: tuple[str, ...] = ()


def read_promises(path: Path = PROMISES) -> dict[str, tuple[Promise, ...]]:
    """Return the promises by their heading. Raises msgspec.ValidationError, which says where the file is wrong."""
    return msgspec.convert(
        yaml.safe_load(path.read_text(encoding="utf-8")), dict[str, tuple[Promise, ...]], strict=False
    )


def promises_part() -> str:
    """A table for each heading."""
    parts = []
    for heading, promises in read_promises().items():
        lines = [f"## {heading}", "", "| Promise | Proved by | Measured by |", "|---|---|---|"]
        lines += [_row(one) for one in promises]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _row(promise: Promise) -> str:
    tests = "<br>".join(_shown(one) for one in promise.tests)
    figures = ", ".join(f"[{id}](benchmarks.md)" for id in promise.figures)
    return f"| {promise.promise} | {tests} | {figures} |"


def _shown(test: str) -> str:
    file, _, function = test.partition("::")
    said = function.removeprefix("test_").replace("_", " ")
    return f"[{said}](../tests/{file})"
