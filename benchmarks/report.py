"""Reports of rows: a table for the terminal, JSON, and the part of a page of the docs between the markers."""

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
QUALITY_COLUMNS = (
    "id",
    "measure",
    "value",
    "unit",
    "baseline",
    "goal",
    "met",
)  # counts, compared with no ratio
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


def cells(row: Row, columns: Sequence[str] = COLUMNS) -> tuple[str, ...]:
    """Return the texts of one row, in the order of the columns."""
    peer = f"{row.peer.name}: {_figure(row.peer.value)}" if row.peer else ""
    texts = {
        "id": row.id,
        "measure": row.measure,
        "value": _figure(row.value)
        if not row.missing or row.value is not None
        else f"not run: {row.missing}",
        "unit": row.unit,
        "peer": peer,
        "baseline": peer,
        "ratio": "" if row.ratio is None else f"{row.ratio:.2f}",
        "goal": _goal(row.goal),
        "met": {True: "yes", False: "NO", None: ""}[row.met],
    }
    return tuple(texts[column] for column in columns)


def table(rows: Sequence[Row], facts: Mapping[str, str], columns: Sequence[str] = COLUMNS) -> Table:
    """Return the table for the terminal."""
    shown = Table(*columns, caption=words(facts), show_lines=False)
    for row in rows:
        texts = cells(row, columns)
        shown.add_row(*(_plain(text) for text in texts), style="red" if row.met is False else None)
    return shown


def as_json(rows: Sequence[Row], facts: Mapping[str, str], at: datetime) -> bytes:
    """Return all results as JSON, for programs and for comparison with later runs."""
    whole = {"at": at.isoformat(timespec="seconds"), "machine": dict(facts), "rows": built(rows)}
    return msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n"


def built(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return rows as JSON has them, with what is computed."""
    return [{**msgspec.to_builtins(row), "ratio": row.ratio, "met": row.met} for row in rows]


def markdown(
    rows: Sequence[Row], facts: Mapping[str, str], at: datetime, columns: Sequence[str] = COLUMNS
) -> str:
    """Return the table as Markdown, and when and where the rows were measured."""
    return f"{rows_markdown(rows, columns)}\n\nRun on {at:%Y-%m-%d}; {words(facts)}."


def rows_markdown(rows: Sequence[Row], columns: Sequence[str] = COLUMNS) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += [
        "| " + " | ".join(text.replace("|", "\\|") for text in cells(row, columns)) + " |" for row in rows
    ]
    return "\n".join(lines)


def put_between_markers(page: str, text: str) -> str:
    """Replace the text between the markers of the page. Raises ValueError without markers."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no {BEGIN} … {END}")
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def put_in_page(path: Path, text: str) -> None:
    """Replace the text between the markers of the file. Raises ValueError without markers."""
    write(path, put_between_markers(path.read_text(encoding="utf-8"), text).encode())


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


def words(facts: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in facts.items())


def _plain(text: str) -> str:
    return text.replace("[", r"\[")  # rich would read it as markup
