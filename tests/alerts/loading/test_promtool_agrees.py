"""The real promtool gives the verdicts that our small cases say."""

import subprocess
from pathlib import Path

import pytest

from tests.alerts.loading.cases import APART, CASES, Case

pytestmark = pytest.mark.real


def _accepts(promtool: Path, file: Path) -> bool:
    done = subprocess.run(
        [promtool, "check", "rules", "--lint=none", file],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return done.returncode == 0


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_promtool_judges_the_same(case: Case, promtool_path: Path, tmp_path: Path) -> None:
    (tmp_path / "x.yml").write_text(case.text)

    assert _accepts(promtool_path, tmp_path / "x.yml") is case.is_right


@pytest.mark.parametrize("case", APART, ids=lambda case: case.name)
def test_where_we_judge_otherwise_the_difference_is_still_there(
    case: Case, promtool_path: Path, tmp_path: Path
) -> None:
    (tmp_path / "x.yml").write_text(case.text)

    assert _accepts(promtool_path, tmp_path / "x.yml") is not case.is_right, case.why_apart
