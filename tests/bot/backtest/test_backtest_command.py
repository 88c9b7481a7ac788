"""`yardmaster rules backtest`: what it prints, draws and refuses."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bot.backtest import run_backtest
from bot.cli import main
from collectors.facts.clock import SystemClock
from tests.bot.backtest.recorded import LENGTH, recorded
from tests.real.fixtures import StartPrometheus
from tests.support.alerting import minutes

RULES = """
groups:
  - name: mine
    interval: 30s
    rules:
      - alert: Hot
        expr: heat > 83
        for: 1m
        labels: {severity: critical}
        annotations: {summary: "{{ $labels.gpu }}"}
      - alert: Cold
        expr: heat < 0
        annotations: {summary: cold}
"""
OTHERS = """
groups:
  - name: mine
    rules:
      - alert: ManyErrors
        logs: {match: 'message:error', by: [node], over: 5m}
        annotations: {summary: errors}
      - alert: NotReady
        check: node-not-ready
        annotations: {summary: not ready}
"""
Backtest = Callable[..., Result]


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    file = tmp_path / "mine.yaml"
    file.write_text(RULES)
    file.with_suffix(".yard.yaml").write_text(OTHERS)
    return file


@pytest.fixture
def backtest(tmp_path: Path, rules: Path, monkeypatch: pytest.MonkeyPatch) -> Backtest:
    """A function that runs the command on these rules and clusters."""
    monkeypatch.setenv("COLUMNS", "160")

    def run(*words: str, clusters: str = "[{name: a}]") -> Result:
        config = tmp_path / "settings.yaml"
        config.write_text(f"clusters: {clusters}\n")
        files = (str(rules), str(rules.with_suffix(".yard.yaml")))
        return CliRunner().invoke(main, ("rules", "backtest", *files, "--config", str(config), *words))

    return run


@pytest.fixture
def url(start_prometheus: StartPrometheus) -> str:
    """A Prometheus with a GPU that was hot from half an hour to a quarter before now, and another that still is."""
    end = SystemClock().now().replace(microsecond=0)
    until = LENGTH / minutes(1)

    def heat(gpu: str, minute: float) -> float:
        is_hot = until - 30 <= minute < until - 15 if gpu == "0" else gpu == "1" and minute >= until - 10
        return 91 + minute / 1000 if is_hot else 60

    return start_prometheus(samples=recorded(end, heat, holes=((minutes(40), minutes(45)),))).url


def two(url: str) -> str:
    prometheus = f"prometheus: {{url: '{url}'}}"
    return f"[{{name: prod-a, {prometheus}}}, {{name: prod-b, {prometheus}}}, {{name: dark}}]"


def test_it_prints_a_table_for_each_cluster_with_a_prometheus(backtest: Backtest, url: str) -> None:
    result = backtest("--since", "1h", clusters=two(url))
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert [line.split(":")[0].strip() for line in lines if " to 20" in line] == ["prod-a", "prod-b"]
    ended, still = [line for line in lines if line.startswith("Hot")][:2]
    assert '{gpu="0", severity="critical"}' in ended
    assert '{gpu="1", severity="critical"}' in still
    assert "still fires" in still
    assert "91.07" in ended
    assert "Never fired: Cold." in lines
    assert any(line.startswith("Prometheus recorded nothing for ") for line in lines)
    assert "only Prometheus can evaluate a range: ManyErrors (log search), NotReady (check)." in result.output


def test_it_prints_one_document_for_programs(backtest: Backtest, url: str) -> None:
    result = backtest("--since", "1h", "--output", "json", clusters=two(url))
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert [one["cluster"] for one in document["clusters"]] == ["prod-a", "prod-b"]
    assert document["not_replayable"] == ["ManyErrors", "NotReady"]
    first = document["clusters"][0]
    ended, still = first["alerts"]
    assert (ended["labels"], still["labels"]["gpu"], still["ended"]) == (
        {"gpu": "0", "severity": "critical"},
        "1",
        None,
    )
    assert datetime.fromisoformat(ended["started"]) < datetime.fromisoformat(ended["ended"])
    assert [(rule["rule"], rule["alerts"]) for rule in first["rules"]] == [("Hot", 2), ("Cold", 0)]
    assert first["nothing_recorded"]


def test_errors_are_in_the_document_too(backtest: Backtest) -> None:
    result = backtest("--json", clusters=two("http://127.0.0.1:1"))
    assert result.exit_code == 1
    errors = json.loads(result.stdout)["errors"]
    assert [error.partition(":")[0] for error in errors] == ["prod-a", "prod-b"]


def test_it_draws_a_chart(backtest: Backtest, url: str, tmp_path: Path) -> None:
    chart = tmp_path / "out.svg"
    result = backtest("--since", "1h", "--chart", str(chart), clusters=two(url))
    assert result.exit_code == 0, result.output
    assert chart.read_text().count("Hot {gpu=") == 4
    assert "prod-b (UTC; grey: nothing was recorded)" in chart.read_text()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        pytest.param(
            ("--chart", "out.txt"), "its name must end in .png or .svg", id="a chart that is no picture"
        ),
        pytest.param(("--since", "yesterday"), "is not a duration", id="a bad duration"),
        pytest.param(("--step", "10ms"), "--step is too short", id="a step below a second"),
    ],
)
def test_wrong_options_are_refused(backtest: Backtest, words: tuple[str, ...], text: str) -> None:
    result = backtest(*words, clusters=two("http://127.0.0.1:1"))
    assert result.exit_code != 0
    assert text in result.output


def test_a_chart_without_the_extra_says_what_to_install(
    backtest: Backtest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_backtest, "is_available", lambda: False)
    result = backtest("--chart", "out.png", clusters=two("http://127.0.0.1:1"))
    assert result.exit_code == 1
    assert "pip install 'yardmaster[charts]'" in result.output


def test_a_cluster_that_cannot_be_reached_is_named(backtest: Backtest) -> None:
    result = backtest(clusters=two("http://127.0.0.1:1"))
    assert result.exit_code == 1
    for cluster in ("prod-a", "prod-b"):
        assert f"{cluster}: http://127.0.0.1:1 refuses the connection" in result.output


def test_settings_without_a_prometheus_are_refused(backtest: Backtest) -> None:
    result = backtest()
    assert result.exit_code == 1
    assert "add clusters[].prometheus.url" in result.output


def test_errors_in_the_rules_have_their_location(backtest: Backtest, rules: Path) -> None:
    rules.write_text(RULES.replace("heat > 83", "heat >"))
    result = backtest(clusters=two("http://127.0.0.1:1"))
    assert result.exit_code == 1
    assert f"{rules}:7:" in result.output
