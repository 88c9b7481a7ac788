"""Changes of a message: those of its figures, and those of its state."""

from datetime import timedelta
from typing import Any

import pytest

from alerts.annotation_template import annotation_template
from alerts.cards.figures import card_state
from alerts.cards.headline import filled
from alerts.cards.message import Button, Buttons, Color, Fields, Message, Paragraph, Preformatted, Table
from alerts.cards.text import bold, code, moment, person, text
from collectors.facts.sentences import counted, listed, sentence
from tests.support.rows import NOON

HOT = annotation_template("GPU {{ $labels.gpu }} is hot: {{ printf `%.1f` $value }} °C.")
SEVERAL = annotation_template("{count} of {gpus} are hot, up to {{ $value }} °C.", is_headline=True)


def a_title(*parts: Any) -> Message:
    return Message(title=text(*parts))


def a_body(*blocks: Any) -> Message:
    return Message(title=text("t"), blocks=blocks)


def run(number: int, *, of: int = 640) -> str:
    return sentence("{number} of {all} run", number=number, all=of)


def hot(gpu: str, value: float) -> Message:
    return a_title(bold(HOT.render({"gpu": gpu}, value, "")))


def several(count: int, value: float) -> Message:
    gpus = counted("{count} GPU", "{count} GPUs", count=count)
    said = filled(SEVERAL.render({}, value, ""), {"count": str(count), "gpus": gpus})
    assert said is not None
    return a_title(said)


def lost(number: int) -> str:
    return counted(
        "{count} GPU of {node} is lost", "{count} GPUs of {node} are lost", count=number, node="a1"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(hot("3", 109.0), hot("3", 86.5), id="a measured value"),
        pytest.param(several(8, 109), several(2, 86), id="how many alerts, and their worst value"),
        pytest.param(a_title(lost(1)), a_title(lost(5)), id="a count with another verb"),
        pytest.param(
            a_title(sentence("took {lasting}", lasting=timedelta(minutes=5))),
            a_title(sentence("took {lasting}", lasting=timedelta(hours=2, minutes=5))),
            id="a duration",
        ),
        pytest.param(
            a_title(listed(["a1", "a2"], more=7)), a_title(listed(["a1", "a2"], more=1)), id="how many more"
        ),
        pytest.param(
            a_body(Fields(rows=(("ranks", text(run(3))),))),
            a_body(Fields(rows=(("ranks", text(run(639))),))),
            id="how many run",
        ),
        pytest.param(
            a_body(Table(heading=("node", "GPUs"), rows=(("gpu-a02", run(3, of=8)),), more=2)),
            a_body(Table(heading=("node", "GPUs"), rows=(("gpu-a02", run(4, of=8)),), more=5)),
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
    assert before != after
    assert card_state(before) == card_state(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(hot("3", 109.0), hot("4", 109.0), id="a label of a rule"),
        pytest.param(
            a_title(sentence("{node} is hot", node="gpu-b03")),
            a_title(sentence("{node} is hot", node="gpu-b04")),
            id="a name with digits",
        ),
        pytest.param(a_title("1 of 8 rows"), a_title("2 of 8 rows"), id="a text from outside"),
        pytest.param(a_title(code("17")), a_title(code("18")), id="code"),
        pytest.param(a_title("since ", moment(NOON)), a_title("since ", moment(NOON, "then")), id="a moment"),
        pytest.param(
            a_title(sentence("since {at}", at=NOON)),
            a_title(sentence("since {at}", at=NOON + timedelta(minutes=1))),
            id="a moment in a sentence",
        ),
        pytest.param(
            a_title(sentence("acknowledged by {who}", who=person("slack:U1", "dana"))),
            a_title(sentence("acknowledged by {who}", who=person("slack:U2", "dana"))),
            id="a person of the same name",
        ),
        pytest.param(
            a_title(run(3)), a_title(sentence("{number} of {all} failed", number=3, all=640)), id="a word"
        ),
        pytest.param(a_title("hot"), a_title(listed(["hot"], more=1)), id="a figure that was not there"),
        pytest.param(a_title(listed(["a", "b"])), a_title(listed(["a", "b"], "or")), id="and or or"),
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
    assert card_state(before) != card_state(after)
