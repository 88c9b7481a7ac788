"""The list of Alertmanager's own scenarios in the docs has each of them, and the tests that it names are there."""

import json
import re

import pytest

from tests.house.conftest import ROOT

DATA = ROOT.parent / "shared" / "data" / "alertmanager" / "scenarios.json"
PAGE = ROOT / "docs" / "alerts-of-others.md"
ROW = re.compile(r"^\| (\w[\w() ]+) \| (yes|partly|no) \| (.+) \|$", re.MULTILINE)


def rows() -> list[tuple[str, str, str]]:
    return ROW.findall(PAGE.read_text(encoding="utf-8"))


@pytest.mark.skipif(not DATA.exists(), reason="the shared data set is not next to the checkout")
def test_each_scenario_is_listed_once() -> None:
    scenarios = [one["name"] for one in json.loads(DATA.read_text(encoding="utf-8"))]
    assert sorted(name for name, _, _ in rows()) == sorted(scenarios)


def test_the_tests_that_it_names_are_there() -> None:
    named = {name for _, _, why in rows() for name in re.findall(r"`(test_\w+)`", why)}
    there = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert named
    assert [name for name in named if f"def {name}(" not in there] == []


def test_what_holds_names_a_test_and_what_does_not_a_reason() -> None:
    without = [name for name, holds, why in rows() if holds != "no" and "`test_" not in why]
    assert without == []
    assert [name for name, _, why in rows() if len(why.split()) < 4 and "`test_" not in why] == []
