"""`rules test` and `rules export`: cases run by promtool, and rules that Prometheus can load."""

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from alerts.loading import Loaded, load
from alerts.rules import Symbols
from bot.cli import main
from bot.cli.rule_cases import CasesError, run_cases

PACKS = Path(__file__).parents[3] / "alerts" / "packs"


def yardmaster(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def promtool(promtool_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """promtool on the PATH, as a user has it."""
    monkeypatch.setenv("PATH", str(promtool_path.parent), prepend=":")
    return promtool_path


def test_the_shipped_cases_pass(promtool: Path) -> None:
    result = yardmaster("rules", "test", PACKS / "gpu-slow.test.yaml")  # the others: test_promtool.py
    assert (result.exit_code, "SUCCESS" in result.stdout) == (0, True)


def cases(folder: Path, value: int) -> Path:
    (folder / "hot.yaml").write_text(
        "groups: [{name: hot, rules: [{alert: Hot, expr: heat > 80, labels: {severity: warning}}]}]\n"
    )
    file = folder / "hot.test.yaml"
    test = {
        "interval": "1m",
        "input_series": [{"series": 'heat{gpu="0"}', "values": f"{value}x5"}],
        "alert_rule_test": [
            {
                "alertname": "Hot",
                "eval_time": "5m",
                "exp_alerts": [{"exp_labels": {"gpu": "0", "severity": "warning"}}],
            }
        ],
    }
    file.write_text(yaml.safe_dump({"rule_files": ["hot.yaml"], "tests": [test]}))
    return file


def test_a_case_that_fails_is_shown(promtool: Path, tmp_path: Path) -> None:
    assert yardmaster("rules", "test", cases(tmp_path, 90)).exit_code == 0
    result = yardmaster("rules", "test", cases(tmp_path, 70))
    assert (result.exit_code, "FAILED" in result.output) == (1, True)


def test_the_rules_of_the_cases_are_checked_by_yardmaster_too(promtool: Path, tmp_path: Path) -> None:
    file = cases(tmp_path, 90)
    (tmp_path / "hot.yaml").write_text("groups: [{name: hot, rules: [{alert: Hot, expr: heat >}]}]\n")
    result = yardmaster("rules", "test", file)
    assert (result.exit_code, f"{tmp_path / 'hot.yaml'}:1:" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[", "not YAML"),
        ("groups: []", "this is not a file of test cases"),
        ("rule_files: [none.yaml]", "cannot be read"),
    ],
)
def test_files_that_are_not_cases(promtool: Path, tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "x.test.yaml"
    file.write_text(text)
    result = yardmaster("rules", "test", file)
    assert (result.exit_code, expected in result.stderr) == (1, True)


def test_without_promtool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(CasesError, match="promtool is not installed: it comes with Prometheus"):
        run_cases([PACKS / "gpu.test.yaml"])


def test_prometheus_accepts_the_exported_rules(promtool_path: Path, tmp_path: Path) -> None:
    result = yardmaster(
        "rules", "export", "--namespace", "monitoring", "--label", "release=kube-prometheus-stack"
    )
    assert result.exit_code == 0
    exported = yaml.safe_load(result.stdout)
    assert exported["metadata"] == {
        "name": "yardmaster",
        "namespace": "monitoring",
        "labels": {"release": "kube-prometheus-stack"},
    }
    assert "logs/logs/ErrorLogBurst" in result.stderr
    loaded = load(result.stdout, file="export.yaml", symbols=Symbols(), own=False)
    assert loaded.diagnostics == ()
    before = [
        load(file.read_text(), file=file.name, symbols=Symbols(), own=False)
        for file in sorted(PACKS.glob("*.yaml"))
        if "." not in file.stem
    ]

    def essence(files: list[Loaded]) -> list[object]:
        return [
            (rule.name, rule.query, rule.timing, rule.template.labels)
            for file in files
            for group in file.groups
            for rule in group.rules
        ]

    assert essence([loaded]) == essence(before)


def test_a_file_is_exported_with_its_recording_rules(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(
        "groups:\n  - name: a\n    interval: 1m\n    rules:\n      - {record: 'job:up:sum', expr: sum by (job) (up)}\n"
        "      - {alert: Down, expr: up == 0, for: 5m, annotations: {summary: Down.}}\n"
    )
    result = yardmaster("rules", "export", file, "--name", "own")
    assert yaml.safe_load(result.stdout)["spec"] == {"groups": yaml.safe_load(file.read_text())["groups"]}
    broken = tmp_path / "broken.yaml"
    broken.write_text("groups: [{name: a, rules: [{alert: A, expr: 'up =='}]}]\n")
    result = yardmaster("rules", "export", broken)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"{broken}:1:" in result.stderr


def test_a_severity_that_a_template_makes_does_not_widen_the_table() -> None:
    table = yardmaster("rules", "list").stdout
    (row,) = [line for line in table.splitlines() if " GPUXIDError " in line]
    assert row.split()[:5] == ["gpu", "alert", "GPUXIDError", "by", "template"]
    rows = yaml.safe_load(yardmaster("rules", "list", "--json").stdout)
    assert "{{" in next(one["severity"] for one in rows if one["name"] == "GPUXIDError")
