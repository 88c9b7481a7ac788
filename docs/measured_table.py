"""The README's table of the figures that were measured beside another program, from the recorded benchmarks."""

from pathlib import Path
from typing import Any

import msgspec

RECORDED = Path(__file__).parent / "benchmarks.json"
IDS = ("F1", "F2", "F3", "F4", "F5", "F8")


def measured_part(recorded: Path = RECORDED) -> str:
    """A line for each of them that has a peer and a goal, with when it was measured."""
    runs: dict[str, Any] = msgspec.json.decode(recorded.read_bytes())
    lines = ["| | Measured | Yardmaster | Beside it |", "|---|---|---|---|"]
    shown = [
        (run, row)
        for run in runs.values()
        for row in run["rows"]
        if row["id"] in IDS and row["peer"] is not None and row["goal"]
    ]
    lines += [_line(row) for _, row in shown]
    if not shown:
        return "Not measured yet."
    last = max((run for run, _ in shown), key=lambda run: run["at"])
    measured = f"Measured on {last['at'][:10]}, {last['machine']['cores']} cores."
    return "\n".join([*lines, "", " ".join([measured, *_not_met(runs)])])


def _not_met(runs: dict[str, Any]) -> list[str]:
    """Return how many goals of all benchmarks are not met, and of which; nothing if all are."""
    rows = [row for run in runs.values() for row in run["rows"] if row["goal"]]
    missed = [row for row in rows if not row["met"]]
    if not missed:
        return []
    ids = ", ".join(sorted({row["id"] for row in missed}))
    return [f"Goals of all benchmarks: {len(rows)}; not met: {len(missed)} (of {ids})."]


def _line(row: dict[str, Any]) -> str:
    unit = row["unit"]
    ours = f"{_figure(row['value'])}{_with(unit)}" + ("" if row["met"] else " (the goal is not met)")
    peer = f"{row['peer']['name']}: {_figure(row['peer']['value'])}{_with(unit)}"
    return f"| {row['id']} | {row['measure']} | {ours} | {peer} |".replace("|  |", "| – |")


def _with(unit: str) -> str:
    return "" if not unit else " %" if unit == "%" else f" {unit}"


def _figure(value: float | None) -> str:
    if value is None:
        return "not measured"
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:.3g}"
