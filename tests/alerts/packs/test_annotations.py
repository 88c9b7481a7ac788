"""Another wording of a pack is written into its cases, and nothing else is."""

import difflib
import re
from pathlib import Path

import pytest

from tests.alerts.packs.annotations import reword
from tests.alerts.packs.shipped import PACKS
from tests.support.promtool import run_cases

PACK = "gpu-plumbing"  # its cases have several alerts at a moment
ANNOTATIONS = re.compile(r"^[-+] +(summary|headline|resolved_headline|description): ")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a pack and its cases."""
    for name in (f"{PACK}.yaml", f"{PACK}.test.yaml"):
        (tmp_path / name).write_text((PACKS / name).read_text(encoding="utf-8"), encoding="utf-8")
    return tmp_path


def change(folder: Path, was: str, now: str) -> None:
    file = folder / f"{PACK}.yaml"
    text = file.read_text(encoding="utf-8")
    assert re.search(was, text)
    file.write_text(re.sub(was, now, text), encoding="utf-8")


def passes(promtool: Path, folder: Path) -> bool:
    return run_cases(promtool, f"{PACK}.test.yaml", folder=folder).returncode == 0


def test_a_new_wording_is_written_into_the_cases(folder: Path, promtool_path: Path) -> None:
    change(folder, 'summary: "', r'summary: "\\"See\\": ')
    before = (folder / f"{PACK}.test.yaml").read_text(encoding="utf-8")
    assert not passes(promtool_path, folder)

    assert reword(folder / f"{PACK}.test.yaml")

    assert passes(promtool_path, folder)
    after = (folder / f"{PACK}.test.yaml").read_text(encoding="utf-8")
    changed = [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in "-+"]
    assert changed
    assert [line for line in changed if not ANNOTATIONS.match(line)] == []


@pytest.mark.parametrize(
    ("was", "now"), [("severity: warning", "severity: info"), ("UnexpectedAdmissionError", "Another")]
)
def test_another_label_or_condition_still_fails(
    folder: Path, promtool_path: Path, was: str, now: str
) -> None:
    change(folder, was, now)

    assert not reword(folder / f"{PACK}.test.yaml")

    assert not passes(promtool_path, folder)


def test_cases_that_pass_stay_as_they_are(folder: Path, promtool_path: Path) -> None:
    assert not reword(folder / f"{PACK}.test.yaml")
