"""The part of an expression that is drawn, and its threshold."""

import pytest

from bot.charts.threshold import Drawn, drawings


@pytest.mark.parametrize(
    ("expr", "measured", "threshold", "comparison"),
    [
        pytest.param("heat > 83", "heat", 83, ">", id="a number on the right"),
        pytest.param("5 * (60 + 1) <= heat", "heat", 305, ">=", id="a sum on the left"),
        pytest.param("((heat > bool 83))", "heat", 83, ">", id="brackets"),
        pytest.param("a == 0 and on (pod) b > 3 unless on (node) c", "a", 0, "==", id="conditions"),
        pytest.param(
            'sum(rate(x{code="a|b"}[2m])) / sum(rate(x[2m])) > 0.01',
            'sum(rate(x{code="a|b"}[2m])) / sum(rate(x[2m]))',
            0.01,
            ">",
            id="a ratio",
        ),
        pytest.param(r'heat{rack=~"r\\d"} > 83', r'heat{rack=~"r\\d"}', 83, ">", id="an escape"),
        pytest.param(
            "heat{rack='\"a\"'} < -8 # cold", "heat{rack='\"a\"'}", -8, "<", id="quotes, and a sign"
        ),
    ],
)
def test_the_measured_side_is_drawn(expr: str, measured: str, threshold: float, comparison: str) -> None:
    assert drawings(expr) == (Drawn(expr=measured, threshold=threshold, comparison=comparison),)


def test_of_two_series_that_are_compared_the_left_one_is_drawn() -> None:
    assert drawings("used > on (node) quota") == (Drawn(expr="used"),)


@pytest.mark.parametrize(
    "expr",
    [
        "absent(up)",
        "absent(up) or b > 4",
        "absent(up) # for a while",
        "-2 > -3",
        "vector(1) > 1 / 0",
    ],
)
def test_all_of_any_other_expression_is_drawn(expr: str) -> None:
    (found,) = drawings(expr)
    assert found.threshold is None
    assert found.expr in (expr.partition(" #")[0], "vector(1)")


def test_each_alternative_with_a_limit_of_its_own_is_a_drawing_of_its_own() -> None:
    assert drawings("(max by (gpu) (a) > 83 or max by (gpu) (b) > 95)") == (
        Drawn(expr="max by (gpu) (a)", threshold=83, comparison=">"),
        Drawn(expr="max by (gpu) (b)", threshold=95, comparison=">"),
    )


@pytest.mark.parametrize(
    ("expr", "is_state"),
    [("up == 0", True), ("health != 1", True), ("heat > 83", False), ("absent(up)", False)],
)
def test_a_rule_that_compares_with_one_value_is_about_a_state(expr: str, is_state: bool) -> None:
    assert all(one.is_state is is_state for one in drawings(expr))
