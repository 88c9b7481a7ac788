"""Reports of rows: a table for the terminal, JSON, and the part of docs/benchmarks.md between the markers."""

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from rich.table import Table

from benchmarks.row import Goal, Row

COLUMNS = ("id", "measure", "value", "unit", "peer", "ratio", "goal", "met")
BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"


def machine() -> dict[str, str]:
    """Return the facts about this machine that affect the results."""
    load = f"{os.getloadavg()[0]:.1f}"
    return {
        "cores": str(len(os.sched_getaffinity(0))),
        "load": load,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def cells(row: Row) -> tuple[str, ...]:
    """Return the texts of one row, in the order of COLUMNS."""
    return (
        row.id,
        row.measure,
        _figure(row.value) if not row.missing or row.value is not None else f"not run: {row.missing}",
        row.unit,
        f"{row.peer.name}: {_figure(row.peer.value)}" if row.peer else "",
        "" if row.ratio is None else f"{row.ratio:.2f}",
        _goal(row.goal),
        {True: "yes", False: "NO", None: ""}[row.met],
    )


def table(rows: Sequence[Row], facts: Mapping[str, str]) -> Table:
    """Return the table for the terminal."""
    shown = Table(*COLUMNS, caption=_text(facts), show_lines=False)
    for row in rows:
        texts = cells(row)
        shown.add_row(*(_plain(text) for text in texts), style="red" if row.met is False else None)
    return shown


def as_json(rows: Sequence[Row], facts: Mapping[str, str], at: datetime) -> bytes:
    """Return all results as JSON, for programs and for comparison with later runs."""
    listed: list[dict[str, Any]] = [
        {**msgspec.to_builtins(row), "ratio": row.ratio, "met": row.met} for row in rows
    ]
    whole = {"at": at.isoformat(timespec="seconds"), "machine": dict(facts), "rows": listed}
    return msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n"


def markdown(rows: Sequence[Row], facts: Mapping[str, str], at: datetime) -> str:
    """Return the table as Markdown."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(text.replace("|", "\\|") for text in cells(row)) + " |" for row in rows]
    lines += ["", f"Run on {at:%Y-%m-%d}; {_text(facts)}."]
    return "\n".join(lines)


def put_between_markers(page: str, text: str) -> str:
    """Replace the text between the markers of the page. Raises ValueError without markers."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no {BEGIN} … {END}")
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def write(path: Path, content: bytes) -> None:
    """Write a file, and create its folder if it does not exist."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _figure(value: float | None) -> str:
    if value is None:
        return ""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _goal(goal: Goal | None) -> str:
    if goal is None:
        return ""
    sign = "≥" if goal.at_least else "≤"
    return f"{sign} {goal.limit:g}{'' if goal.of_value else '×'}"


def _text(facts: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in facts.items())


def _plain(text: str) -> str:
    return text.replace("[", r"\[")  # rich would read it as markup
