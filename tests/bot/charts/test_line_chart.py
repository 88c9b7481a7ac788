"""The contents of a chart: the names of its lines, and the same in words."""

import pytest

from bot.charts.line_chart import MAX_LINES, Chart, Line, alt_text, named_lines, number
from collectors.facts.labels import Labels
from collectors.facts.results import Series

NOON = 1_700_000_000.0


def a_series(*values: float, **labels: str) -> Series:
    points = tuple((NOON + 60 * number, value) for number, value in enumerate(values))
    return Series(labels=Labels(labels), points=points)


def a_chart(*lines: Line, **more: object) -> Chart:
    return Chart(lines=lines, start=NOON, end=NOON + 3600, step=30, fired=NOON + 1800, **more)  # type: ignore[arg-type]


def test_lines_are_named_by_what_tells_them_apart_in_the_order_of_people() -> None:
    lines = named_lines(
        [
            a_series(60, 61, Hostname="gpu-b03", gpu="1", UUID="GPU-1f-aaaa"),
            a_series(60, 109, Hostname="gpu-b03", gpu="16", UUID="GPU-6f-bbbb"),
            a_series(60, 101, Hostname="gpu-b03", gpu="6", UUID="GPU-6f-cccc"),
        ]
    )
    assert [line.name for line in lines] == ["gpu 1", "gpu 6", "gpu 16"]


def test_one_line_needs_no_name() -> None:
    assert [line.name for line in named_lines([a_series(1, 2, node="gpu-a01")])] == [""]


def test_several_labels_name_lines_that_no_single_one_tells_apart() -> None:
    series = [a_series(1, gpu=gpu, node=node) for gpu in "01" for node in ("a", "b")]
    assert {line.name for line in named_lines(series)} == {
        "gpu 0, node a",
        "gpu 0, node b",
        "gpu 1, node a",
        "gpu 1, node b",
    }


def test_a_label_that_a_series_lacks_is_not_a_dash() -> None:
    series = [a_series(1, job="dcgm-exporter"), a_series(2, job="dcgm-exporter", node="gpu-a01"), a_series(3)]

    assert [line.name for line in named_lines(series)] == [
        "job dcgm-exporter",
        "node gpu-a01, job dcgm-exporter",
        "other",
    ]


def test_names_that_are_the_same_once_cut_are_left_out() -> None:
    long = "x" * 60

    assert [line.name for line in named_lines([a_series(1, pod=f"{long}{end}") for end in "ab"])] == ["", ""]


def test_a_series_without_values_has_no_line_and_no_chart_has_more_than_eight() -> None:
    series = [a_series(float("nan"), gpu="x"), *(a_series(one, gpu=str(one)) for one in range(20))]
    lines = named_lines(series)
    assert len(lines) == MAX_LINES
    assert [line.name for line in lines] == [f"gpu {number}" for number in range(12, 20)]
    assert named_lines([a_series(float("inf"), float("nan"))]) == ()


def test_the_words_say_what_the_picture_shows() -> None:
    chart = a_chart(
        Line(name="gpu 6", points=((NOON, 60.5), (NOON + 60, 109.0), (NOON + 120, 108.0))),
        threshold=83,
        comparison=">",
        more=3,
    )
    assert alt_text(chart) == (
        "Chart from 2023-11-14 22:13 to 2023-11-14 23:13 UTC. It fires above 83. "
        "gpu 6: lowest 60.5, highest 109, last 108. And 3 more."
    )


def test_the_words_of_a_single_line_have_no_name() -> None:
    assert alt_text(a_chart(Line(name="", points=((NOON, 1.0),)))).endswith(
        "UTC. Lowest 1, highest 1, last 1."
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0"),
        (0.0123, "0.0123"),
        (9_999, "9999"),
        (12_300, "12.3k"),
        (3.2e9, "3.2G"),
        (-45_000, "-45k"),
        (7e15, "7000T"),
    ],
)
def test_a_number_is_short(value: float, said: str) -> None:
    assert number(value) == said
