"""Measures of quality meet their goals on the public data sets, and say which data set is missing."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from benchmarks.quality.catalogue import MEASURES
from benchmarks.quality.measure import DATA, Measure, as_benchmark
from benchmarks.quality.promtool_series import samples, values
from benchmarks.quality.rows import cpa_linear, rule_eval
from benchmarks.running import run_all
from demo.parts.prometheus import find_prometheus
from tests.real.fixtures import present_or_skip

EACH = pytest.mark.parametrize("measure", MEASURES, ids=[measure.id for measure in MEASURES])
DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    "measure",
    [
        pytest.param(measure, marks=[pytest.mark.real] if measure.needs_prometheus else [])
        for measure in MEASURES
    ],
    ids=[measure.id for measure in MEASURES],
)
def test_a_measure_meets_its_goal(measure: Measure) -> None:
    if measure.needs_prometheus:
        present_or_skip(find_prometheus)
    if not (DATA / measure.file).exists():
        pytest.skip("the shared data set is not next to the checkout")
    (rows,) = run_all([as_benchmark(measure, DATA)], log=lambda _: None).values()
    assert any(row.goal for row in rows)
    assert [(row.measure, row.value, row.missing) for row in rows if row.met is False] == []


@EACH
def test_a_missing_data_set_is_named(measure: Measure, tmp_path: Path) -> None:
    ((row,),) = run_all([as_benchmark(measure, tmp_path)], log=lambda _: None).values()
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


def test_the_values_of_promtools_series_are_read() -> None:
    assert list(values("0+1x2 5-2.5x1 3x1 _ _x2 7")) == [0, 1, 2, 5, 2.5, 3, 3, None, None, None, 7]
    assert list(values("1 stale 2")) == [1, None, 2]
    with pytest.raises(ValueError, match="soon"):
        list(values("1 soon"))


def test_a_series_that_becomes_stale_cannot_be_imported() -> None:
    with pytest.raises(ValueError, match="becomes stale"):
        list(samples("up", "1 stale", start=datetime(2026, 1, 1, tzinfo=UTC), every=timedelta(minutes=1)))


@pytest.mark.real
def test_cases_with_other_alerts_are_not_counted(tmp_path: Path) -> None:
    present_or_skip(find_prometheus)
    series = [{"series": 'up{job="a"}', "values": "1 1 0 0 0 0"}]
    shared = {"alertname": "Down", "interval": "1m", "input_series": series}
    firing = [{"job": "a", "severity": "warning"}]
    cases = [
        {**shared, "eval_time": "3m", "firing": []},  # for 1 min: pending
        {**shared, "eval_time": "4m", "firing": firing},
        {**shared, "eval_time": "5m", "firing": []},  # wrong on purpose
    ]
    rule = {"alert": "Down", "expr": "up == 0", "for": "2m", "labels": {"severity": "warning"}}
    (tmp_path / "rules.yaml").write_text(json.dumps({"groups": [{"name": "g", "rules": [rule]}]}))
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    (row,) = asyncio.run(rule_eval.run(tmp_path / "cases.json"))
    assert (row.value, row.met) == (2, False)
    assert row.peer is not None
    assert row.peer.value == 1
