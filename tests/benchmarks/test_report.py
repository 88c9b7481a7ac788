"""Rows as a table, as JSON, and between the markers of the page."""

from datetime import UTC, datetime
from io import StringIO

import msgspec
import pytest
from rich.console import Console

from benchmarks import record, report
from benchmarks.row import Goal, Peer, Row

AT = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
FACTS = {"cores": "2", "python": "3.11.7"}
ROWS = (
    Row(
        id="F1",
        measure="list [all] | of it",
        value=1234.5,
        unit="ms",
        peer=Peer(name="bare", value=1000),
        goal=Goal(limit=2),
    ),
    Row(id="F2", measure="packages", value=54, goal=Goal(limit=50, of_value=True)),
    Row(id="F3", measure="a cycle", missing="no prometheus"),
)


def test_the_table_has_every_row_and_its_figures() -> None:
    out = StringIO()
    Console(file=out, width=200).print(report.table(ROWS, FACTS))
    first, second, third = [line for line in out.getvalue().splitlines() if "│ F" in line]
    assert [cell.strip() for cell in first.split("│")[1:-1]] == [
        "F1", "list [all] | of it", "1,234", "ms", "bare: 1,000", "1.23", "≤ 2×", "yes",
    ]  # fmt: skip
    assert [cell.strip() for cell in second.split("│")[3:-1]] == ["54", "", "", "", "≤ 50", "NO"]
    assert "not run: no prometheus" in third
    assert "cores 2, python 3.11.7" in out.getvalue()


def test_the_json_has_every_row_with_its_ratio_and_whether_its_goal_is_met() -> None:
    read = msgspec.json.decode(report.as_json(ROWS, FACTS, AT))
    assert read["at"] == "2026-11-21T03:00:00+00:00"
    assert read["machine"] == FACTS
    assert [row["met"] for row in read["rows"]] == [True, False, False]
    assert read["rows"][0]["ratio"] == pytest.approx(1.2345)
    assert read["rows"][0]["peer"] == {"name": "bare", "value": 1000}
    assert read["rows"][2]["missing"] == "no prometheus"


def test_the_page_keeps_the_text_around_the_markers() -> None:
    page = f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n"
    text = report.markdown(ROWS, FACTS, AT)
    new = report.put_between_markers(page, text)
    assert new == f"before\n{report.BEGIN}\n{text}\n{report.END}\nafter\n"
    assert report.put_between_markers(new, text) == new
    assert r"| F1 | list [all] \| of it | 1,234 |" in new


def test_a_page_without_markers_is_an_error() -> None:
    with pytest.raises(ValueError, match="results: begin"):
        report.put_between_markers("nothing here", "text")


def test_a_recorded_run_takes_the_place_of_the_earlier_one_of_its_benchmark_alone() -> None:
    first, second = (record.run_of([row], FACTS, "2026-11-21T03:00:00+00:00") for row in ROWS[:2])
    later = record.run_of(ROWS[2:], FACTS, "2026-11-24T03:00:00+00:00")
    found = record.with_runs({"F1": first, "F2": second}, {"F2": later}, order=("F2", "F1"))
    assert found == {"F2": later, "F1": first}
    assert msgspec.json.decode(record.as_json(found), type=record.Record) == found
    text = record.markdown(found)
    assert "not run: no prometheus" in text
    assert "F2: run on 2026-11-24; cores 2" in text
    assert "packages" not in text
