"""Recorded runs: of each benchmark the last one, with when and where it ran.

A row is compared with its peer in its own run, so benchmarks may be recorded at different times.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchmarks import report
from benchmarks.row import Row


class Run(msgspec.Struct, kw_only=True, frozen=True):
    """The rows of one benchmark. `at`: in ISO form; `machine`: what affects the results."""

    at: str
    machine: dict[str, str]
    rows: list[dict[str, Any]]


Record = dict[str, Run]  # by the benchmark's id, in the order of the catalogue


def read(path: Path) -> Record:
    """Return what was recorded; nothing if there is no file."""
    return msgspec.json.decode(path.read_bytes(), type=Record) if path.exists() else {}


def with_runs(record: Mapping[str, Run], runs: Mapping[str, Run], *, order: Iterable[str]) -> Record:
    """Return the record with these runs instead of earlier ones, without benchmarks that no longer exist."""
    every = {**record, **runs}
    return {id: every[id] for id in order if id in every}


def run_of(rows: Sequence[Row], facts: Mapping[str, str], at: str) -> Run:
    return Run(at=at, machine=dict(facts), rows=report.built(rows))


def as_json(record: Record) -> bytes:
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"


def markdown(record: Record) -> str:
    """Return the table of all recorded rows, and below it when each was measured."""
    rows = [msgspec.convert(row, Row) for run in record.values() for row in run.rows]
    return f"{report.rows_markdown(rows)}\n\n" + "\n".join(_runs(record))


def _runs(record: Record) -> Iterable[str]:
    ids: dict[str, list[str]] = {}
    for id, run in record.items():
        where = {name: value for name, value in run.machine.items() if name != "load"}
        ids.setdefault(f"{run.at[:10]}; {report.words(where)}", []).append(id)
    for when, of in ids.items():
        yield f"{', '.join(of)}: run on {when}.  "
