"""Errors in PromQL: what is wrong, and where it stands in the expression."""

import pytest

from alerts.loading.promql import LONGEST, PromQLDiagnostic, find_error


@pytest.mark.parametrize(
    ("expr", "what", "line", "column"),
    [
        pytest.param("", "no expression found in input", 1, 1, id="nothing"),
        pytest.param("x > > 1", "unexpected `>`", 1, 5, id="one operator too many"),
        pytest.param("sum(x)\n  by (a)\n  by (b)", "unexpected `by`", 3, 3, id="a list too many"),
        pytest.param("x >\n", "the expression ends too early", 2, 1, id="nothing to compare with"),
        pytest.param("sum(\n  rate(x[5m])", "unclosed left parenthesis", 1, 4, id="an open bracket"),
        pytest.param("rate(x[5x])", "bad number or duration syntax: 5x", 1, 8, id="an unknown unit"),
        pytest.param("y + x[0s]", "duration must be greater than 0", 1, 6, id="an empty range"),
        pytest.param('x{a="b" or c="d"}', "unexpected `or`", 1, 9, id="no matcher of Prometheus"),
        pytest.param(
            "x + foo(y)", "unknown function with name 'foo'", 1, 5, id="a function that is not there"
        ),
        pytest.param("foo(foo)", "unknown function with name 'foo'", 0, 0, id="one of several places"),
        pytest.param(
            "(" * 151 + "x" + ")" * 151,
            "more than 150 brackets deep: split it into recording rules",
            1,
            151,
            id="deep",
        ),
        pytest.param("x" * (LONGEST + 1), "longer than 65536 characters", 0, 0, id="long"),
    ],
)
def test_what_is_wrong_and_where(expr: str, what: str, line: int, column: int) -> None:
    assert find_error(expr) == PromQLDiagnostic(what=what, line=line, column=column)
