"""The table of what Yardmaster needs by the size of the cluster, from the recorded benchmarks."""

from pathlib import Path
from typing import Any

import msgspec

RECORDED = Path(__file__).parent / "benchmarks.json"
SIZES = (100, 500, 1_000, 2_500, 5_000)  # nodes; ten pods on each
MEASURED = 5_000  # nodes, of F16
ALSO = 1_000  # nodes of which F16 measures a cycle of all rules
EVERY = 15_000  # milliseconds between cycles


def sizing_part(recorded: Path = RECORDED) -> str:
    """A line for each size. What is not measured is between what is: it grows with the nodes and their pods."""
    runs: dict[str, Any] = msgspec.json.decode(recorded.read_bytes())
    cluster = _row(runs, "F16", "memory that the cluster takes")["value"]
    whole = _row(runs, "F16", "memory of the whole process")["value"]
    most = _row(runs, "F16", "a cycle of all rules")
    usual = _row(runs, "F16", "no presence queries")["value"]
    alerts = (
        _row(runs, "F5", "memory with 50,000 alerts")["value"] - _row(runs, "F5", "before the first")["value"]
    )
    lines = [
        "| Nodes, with ten pods each | Memory | A usual cycle, of a core | A cycle in which every rule has an alert |",
        "|---|---|---|---|",
    ]
    for nodes in SIZES:
        share = nodes / MEASURED
        memory = f"{_about(nodes)}{whole - cluster * (1 - share):,.0f} MB"
        cpu = f"{_about(nodes)}{usual * share / EVERY:.1%}".replace("%", " %")
        lines.append(f"| {nodes:,} | {memory} | {cpu} | {_longest(nodes, most)} |")
    at = runs["F16"]["at"][:10]
    return "\n".join(
        [
            *lines,
            "",
            f"Measured on {at}, {runs['F16']['machine']['cores']} cores, with {MEASURED:,} nodes and the shipped "
            f"rules; the longest cycle with {ALSO:,} nodes, too. Figures with ≈ lie between, or below in proportion. "
            f"50,000 alerts that stand at once take {alerts:,.0f} MB more.",
        ]
    )


def _row(runs: dict[str, Any], id: str, words: str) -> dict[str, Any]:
    """Return the row with these words in its measure."""
    (found,) = (row for row in runs[id]["rows"] if words in row["measure"])
    return dict(found)


def _about(nodes: int) -> str:
    return "" if nodes == MEASURED else "≈ "


def _longest(nodes: int, row: dict[str, Any]) -> str:
    if nodes == MEASURED:
        return f"{row['value'] / 1000:.1f} s"
    smaller = row["peer"]["value"]
    if nodes == ALSO:
        return f"{smaller / 1000:.1f} s"
    if nodes < ALSO:
        return f"≈ {smaller * nodes / ALSO / 1000:.1f} s"
    between = (nodes - ALSO) / (MEASURED - ALSO)
    return f"≈ {(smaller + (row['value'] - smaller) * between) / 1000:.1f} s"
