"""Changes of a message: those of its figures, and those of its state."""

from typing import Any

import pytest

from alerts.cards.figures import without_figures
from alerts.cards.message import Button, Buttons, Color, Fields, Message, Paragraph, Preformatted, Table
from alerts.cards.text import bold, code, moment, text
from tests.support.rows import NOON


def a_title(*parts: Any) -> Message:
    return Message(title=text(*parts))


def a_body(*blocks: Any) -> Message:
    return Message(title=text("t"), blocks=blocks)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            a_title(bold("gpu-b03 is hot: 8 of 8 GPUs, up to 109 °C")),
            a_title(bold("gpu-b03 is hot: 7 of 8 GPUs, up to 86.5 °C")),
            id="a measured value",
        ),
        pytest.param(a_title("58% of the time (+7 more)"), a_title("6% of the time (+1 more)"), id="a share"),
        pytest.param(a_title("answers in 6.957s, 3Gi."), a_title("answers in 12ms, 900Mi."), id="units"),
        pytest.param(
            a_body(Fields(rows=(("ranks", text("3 of 640 run")),))),
            a_body(Fields(rows=(("ranks", text("639 of 640 run")),))),
            id="how many run",
        ),
        pytest.param(
            a_body(Table(heading=("node", "GPUs"), rows=(("gpu-a02", "3/8"),), more=2)),
            a_body(Table(heading=("node", "GPUs"), rows=(("gpu-a02", "4/8"),), more=5)),
            id="a cell",
        ),
        pytest.param(
            a_body(Preformatted(lines=("12:01 Xid 79",))),
            a_body(Preformatted(lines=("12:02 Xid 79", "12:03 link down"))),
            id="newer lines",
        ),
        pytest.param(
            Message(title=text("t"), summary="CRITICAL: 3"),
            Message(title=text("t"), summary="4"),
            id="summary",
        ),
    ],
)
def test_a_change_of_figures_leaves_the_state(before: Message, after: Message) -> None:
    assert without_figures(before) == without_figures(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(a_title("gpu-b03 is hot"), a_title("gpu-b04 is hot"), id="a name with digits"),
        pytest.param(a_title(code("17")), a_title(code("18")), id="code"),
        pytest.param(a_title("since ", moment(NOON)), a_title("since ", moment(NOON, "then")), id="a moment"),
        pytest.param(a_title("10.0.1.12:9100 is down"), a_title("10.0.1.13:9100 is down"), id="an address"),
        pytest.param(a_title("3 of 8 run"), a_title("3 of 8 failed"), id="a word"),
        pytest.param(a_title("hot"), a_title("hot (+1 more)"), id="a figure that was not there"),
        pytest.param(
            a_title("t"),
            Message(title=text("t"), color=Color.CRITICAL),
            id="the colour, which is the severity",
        ),
        pytest.param(
            a_body(Buttons(buttons=(Button(label="Confirm", line="plan confirm p1 --hash 12"),))),
            a_body(Buttons(buttons=(Button(label="Confirm", line="plan confirm p1 --hash 13"),))),
            id="what a button runs",
        ),
        pytest.param(a_body(), a_body(Preformatted(lines=("Xid 79",))), id="the first evidence"),
        pytest.param(a_body(), a_body(Paragraph(text=text("1"))), id="another block"),
    ],
)
def test_other_changes_are_changes_of_the_state(before: Message, after: Message) -> None:
    assert without_figures(before) != without_figures(after)


def test_a_long_word_of_digits_is_read_in_linear_time() -> None:
    odd = a_title("1" * 4000 + "!")
    assert without_figures(odd) == odd
