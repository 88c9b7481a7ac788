"""The table of sizes says what was measured, and grows with the cluster."""

import json
import re
from pathlib import Path

from docs.sizing_table import RECORDED, sizing_part


def cells(part: str) -> list[list[str]]:
    lines = [line for line in part.splitlines() if re.match(r"\| [\d,]+ \|", line)]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def number(cell: str) -> float:
    (found,) = re.findall(r"[\d,.]+", cell)
    return float(found.replace(",", ""))


def test_what_was_measured_stands_as_it_was_measured() -> None:
    rows = {row["measure"]: row for row in json.loads(RECORDED.read_text(encoding="utf-8"))["F16"]["rows"]}
    whole = next(row["value"] for measure, row in rows.items() if "whole process" in measure)
    cycle = next(row for measure, row in rows.items() if measure.endswith("a cycle of all rules"))
    by_nodes = {line[0]: line for line in cells(sizing_part())}
    assert by_nodes["5,000"][1] == f"{whole:,.0f} MB"
    assert by_nodes["5,000"][3] == f"{cycle['value'] / 1000:.1f} s"
    assert by_nodes["1,000"][3] == f"{cycle['peer']['value'] / 1000:.1f} s"
    assert all(line[1].startswith("≈") for nodes, line in by_nodes.items() if nodes != "5,000")


def test_more_nodes_need_more() -> None:
    table = cells(sizing_part())
    for column in (1, 2, 3):
        figures = [number(line[column]) for line in table]
        assert figures == sorted(figures)
        assert figures[0] < figures[-1]


def test_it_follows_the_recorded_figures(tmp_path: Path) -> None:
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    for row in recorded["F16"]["rows"]:
        if "whole process" in row["measure"]:
            row["value"] *= 2
    other = tmp_path / "benchmarks.json"
    other.write_text(json.dumps(recorded), encoding="utf-8")
    assert number(cells(sizing_part(other))[-1][1]) > 1.9 * number(cells(sizing_part())[-1][1])
