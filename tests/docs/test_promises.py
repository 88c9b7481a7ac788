"""The table of promises: every promise has a test, and every test that is named exists."""

import ast
from pathlib import Path

import pytest

from docs.promises_table import Promise, read_promises
from tests.docs.conftest import ROOT

PROMISES = [one for promises in read_promises().values() for one in promises]
TESTS = ROOT / "tests"


def missing(promises: list[Promise]) -> list[str]:
    """Return the tests that do not exist."""
    return [test for one in promises for test in one.tests if not _exists(test)]


def _exists(test: str) -> bool:
    file, _, function = test.partition("::")
    path = TESTS / file
    if not path.is_file():
        return False
    tree = ast.parse(path.read_text(encoding="utf-8"))
    defined = (one for one in tree.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
    return function.startswith("test_") and any(one.name == function for one in defined)


def test_every_promise_has_a_test_that_exists() -> None:
    assert [one.promise for one in PROMISES if not one.tests] == []
    assert missing(PROMISES) == []


def test_every_figure_is_a_row_of_the_benchmarks(docs: dict[str, str]) -> None:
    named = {id for one in PROMISES for id in one.figures}
    assert named
    assert [id for id in sorted(named) if f"\n| {id} | " not in docs["docs/benchmarks.md"]] == []


@pytest.mark.parametrize(
    "test",
    [
        "stories/test_gone.py::test_it",
        "docs/test_promises.py::test_gone",
        "docs/test_promises.py::missing",
        "docs/test_promises.py",
    ],
)
def test_a_test_that_does_not_exist_is_noticed(test: str) -> None:
    assert missing([Promise(promise="It flies", tests=(test,))]) == [test]


def test_no_promise_is_made_twice() -> None:
    assert len({one.promise for one in PROMISES}) == len(PROMISES)


def test_files_are_named_below_the_tests() -> None:
    assert all(Path(test.partition("::")[0]).suffix == ".py" for one in PROMISES for test in one.tests)
