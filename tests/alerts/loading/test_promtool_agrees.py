"""The real promtool accepts and rejects the small cases as listed."""

import subprocess
from pathlib import Path

import pytest

from tests.alerts.loading.cases import CASES, DIFFERENCES, Case

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
def test_promtool_agrees_with_the_case(case: Case, promtool_path: Path, tmp_path: Path) -> None:
    (tmp_path / "x.yml").write_text(case.text)

    assert _accepts(promtool_path, tmp_path / "x.yml") is case.is_valid


@pytest.mark.parametrize("case", DIFFERENCES, ids=lambda case: case.name)
def test_a_known_difference_from_promtool_still_exists(
    case: Case, promtool_path: Path, tmp_path: Path
) -> None:
    (tmp_path / "x.yml").write_text(case.text)

    assert _accepts(promtool_path, tmp_path / "x.yml") is not case.is_valid, case.difference
