"""The record of a soak run, after some of its tests were run again."""

from collections.abc import Mapping
from typing import Any

from tests.soak import with_again

WHOLE: Mapping[str, Any] = {"passed": 8, "failed": ["a.py::one[1]", "b.py::two"], "recorded": {}}


def run_again(*tests: str, failed: tuple[str, ...] = ()) -> Mapping[str, Any]:
    again = {"at": "now", "seed": 1, "failed": list(failed), "recorded": {}}
    return with_again(dict(WHOLE), again, tests)


def test_what_passes_again_has_not_failed_any_more_also_where_its_file_was_named() -> None:
    after = run_again("a.py")
    assert (after["passed"], after["failed"]) == (9, ["b.py::two"])


def test_what_fails_when_it_is_run_again_is_recorded_as_failed_once() -> None:
    after = run_again("b.py::two", "c.py", failed=("b.py::two", "c.py::three"))
    assert (after["passed"], after["failed"]) == (8, ["a.py::one[1]", "b.py::two", "c.py::three"])


def test_what_fails_when_it_is_run_again_no_longer_has_what_it_recorded_when_it_passed() -> None:
    whole = {"passed": 2, "failed": [], "recorded": {"a": {"on": "Monday"}, "b": {"on": "Monday"}}}
    again = {"at": "Friday", "seed": 1, "failed": ["a"], "recorded": {}}
    assert with_again(whole, again, ("a",))["recorded"] == {"b": {"on": "Monday"}}
