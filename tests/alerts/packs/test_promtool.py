"""The shipped Prometheus rules and their cases, checked by the real promtool."""

import subprocess
from pathlib import Path

import pytest

from tests.alerts.packs.mutations.promtool_cases import run_each_rule
from tests.alerts.packs.shipped import prometheus_files
from tests.support.promtool import run_cases
from tests.support.quick_yaml import from_yaml

FILES = prometheus_files()


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.name} has no lint findings")
def test_promtool_accepts_the_pack(file: Path, promtool_path: Path) -> None:
    argv = (promtool_path, "check", "rules", "--lint=all", "--lint-fatal", file.name)
    done = subprocess.run(argv, cwd=file.parent, capture_output=True, text=True, timeout=120, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"the cases of {file.name} pass")
def test_promtool_passes_the_cases(file: Path, promtool_path: Path, tmp_path: Path) -> None:
    done = run_each_rule(promtool_path, tmp_path, file)

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_cases_name_their_pack_and_no_rule_reads_another(file: Path) -> None:
    """So promtool says the same of the file as of its rules one by one."""
    cases = from_yaml(file.with_name(file.name.removesuffix(".yaml") + ".test.yaml").read_text("utf-8"))
    rules = [rule for group in from_yaml(file.read_text("utf-8"))["groups"] for rule in group["rules"]]

    assert cases["rule_files"] == [file.name]
    assert [rule for rule in rules if "record" in rule or "ALERTS" in rule["expr"]] == []
    assert [test for test in cases["tests"] if "promql_expr_test" in test] == []


def test_promtool_fails_a_case_that_does_not_match_its_rule(promtool_path: Path, tmp_path: Path) -> None:
    """This proves that the two tests above can fail."""
    file = min(FILES, key=lambda one: one.stat().st_size)
    cases = file.with_name(file.name.removesuffix(".yaml") + ".test.yaml")
    (tmp_path / file.name).write_text(file.read_text(encoding="utf-8").replace("severity: ", "severity: un"))
    (tmp_path / cases.name).write_text(cases.read_text(encoding="utf-8"))

    done = run_cases(promtool_path, cases.name, folder=tmp_path)

    assert done.returncode != 0
