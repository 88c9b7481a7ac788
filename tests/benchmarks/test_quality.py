"""Measures of quality meet their goals on the public data sets, and say which data set is missing."""

import asyncio
import json
from pathlib import Path

import pytest

from benchmarks.quality.catalogue import MEASURES
from benchmarks.quality.measure import DATA, Measure, as_benchmark
from benchmarks.quality.rows import cpa_linear
from benchmarks.running import run_all

EACH = pytest.mark.parametrize("measure", MEASURES, ids=[measure.id for measure in MEASURES])
DOCS = Path(__file__).parents[2] / "docs"


@EACH
def test_a_measure_meets_its_goal(measure: Measure) -> None:
    if not (DATA / measure.file).exists():
        pytest.skip("the shared data set is not next to the checkout")
    rows = run_all([as_benchmark(measure, DATA)], log=lambda _: None)
    assert any(row.goal for row in rows)
    assert [(row.measure, row.value, row.missing) for row in rows if row.met is False] == []


@EACH
def test_a_missing_data_set_is_named(measure: Measure, tmp_path: Path) -> None:
    (row,) = run_all([as_benchmark(measure, tmp_path)], log=lambda _: None)
    assert row.missing == f"there is no data set {measure.file}"
    assert row.met is False


@EACH
def test_a_measure_is_described_and_recorded(measure: Measure) -> None:
    assert f"\n| {measure.id} | " in (DOCS / "quality.md").read_text(encoding="utf-8")
    recorded = json.loads((DOCS / "quality.json").read_text(encoding="utf-8"))["rows"]
    rows = [row for row in recorded if row["id"] == measure.id]
    assert rows
    assert all(row["met"] is not False for row in rows)


def test_replicas_that_differ_from_upstream_are_not_counted(tmp_path: Path) -> None:
    file = tmp_path / "tables.json"
    rows = [[2, 1], [6, 3], [6, 4]]
    file.write_text(
        json.dumps(
            {
                "source": "a test",
                "one": {
                    "params": {"coresPerReplica": 2, "min": 1, "max": 9},
                    "columns": ["cores", "replicas"],
                    "rows": rows,
                },
            }
        )
    )
    (row,) = asyncio.run(cpa_linear.run(file))
    assert (row.value, row.met) == (2, False)
