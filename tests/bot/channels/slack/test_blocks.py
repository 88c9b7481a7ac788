"""Any message is rendered within Slack's limits, and what is cut is marked as cut."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from alerts.cards.message import (
    Attachment,
    Button,
    Buttons,
    ButtonStyle,
    Color,
    Context,
    Fields,
    Menu,
    Message,
    Paragraph,
    Preformatted,
    Table,
)
from alerts.cards.text import Span, Style, bold, code, link, moment, person, text
from bot.channels.display_width import width_of
from bot.channels.slack.blocks import render, render_line
from bot.channels.slack.markup import cut_spans, mrkdwn
from bot.channels.slack.slack_message import SlackMessage
from bot.channels.slack.table_layout import WIDTH, layout
from demo.lookalikes.slack.kit.blocks import is_too_large, mistakes_in_blocks
from demo.lookalikes.slack.limits import documented
from tests.support.examples import share

LIMITS = documented()


def _all_blocks(message: SlackMessage) -> list[dict[str, Any]]:
    return [*message.blocks, *(block for part in message.attachments for block in part["blocks"])]


def _shown(message: SlackMessage) -> str:
    return repr(_all_blocks(message))


@pytest.mark.parametrize(
    ("span", "written"),
    [
        pytest.param(Span("a < b & c > d"), "a &lt; b &amp; c &gt; d", id="entities are escaped once"),
        pytest.param(bold("gpu-a04"), "*gpu-a04*", id="bold"),
        pytest.param(code("a`b"), "`aˋb`", id="code cannot be closed from within"),
        pytest.param(
            link("https://g/d?a=1&b=2", "Gra|fana"), "<https://g/d?a=1&amp;b=2|Gra¦fana>", id="a link"
        ),
        pytest.param(link("javascript:alert(1)", "click"), "click", id="only web addresses become links"),
        pytest.param(person("U0ANA00000", "Ana"), "<@U0ANA00000>", id="a chat user"),
        pytest.param(person("ana@lab", "<!channel>"), "&lt;!channel&gt;", id="another name mentions nobody"),
        pytest.param(Span("#x", Style.CHANNEL, "C012"), "<#C012>", id="a channel"),
        pytest.param(
            moment(datetime(2026, 3, 1, 12, tzinfo=UTC)),
            "<!date^1772366400^{date_short_pretty} {time}|2026-03-01 12:00 UTC>",
            id="a moment in the reader's own time",
        ),
        pytest.param(
            Span("<!here> *now*"), "&lt;!here&gt; \u200b*\u200bnow*", id="text from outside stays text"
        ),
    ],
)
def test_a_span_is_rendered_as_mrkdwn(span: Span, written: str) -> None:
    assert mrkdwn((span,)) == written


@given(st.lists(st.text("ab<&>*` ", max_size=30), max_size=6), st.integers(40, 120))
def test_cutting_never_splits_an_entity(pieces: list[str], most: int) -> None:
    shown = mrkdwn(cut_spans(text(*pieces), most))
    bare = shown.replace("&lt;", "").replace("&gt;", "").replace("&amp;", "")
    assert "&" not in bare


def test_a_card_has_a_title_a_colour_and_a_short_text() -> None:
    card = Message(
        title=text("GPU 3 on ", bold("gpu-a04"), " fell off the bus"),
        color=Color.CRITICAL,
        blocks=(Paragraph(text=text("It was running ", code("llm-7b"))),),
        summary="GPU 3 on gpu-a04 <lost>",
    )
    message = render(card)
    assert message.text == "GPU 3 on gpu-a04 &lt;lost&gt;"
    assert message.blocks[0]["text"]["text"] == "*GPU 3 on gpu-a04 fell off the bus*"
    assert message.attachments[0]["color"] == "#d72b3f"


def test_a_button_carries_its_whole_line_or_is_left_out() -> None:
    long = "node cordon " + "x" * 2000
    message = render(
        Message(
            title=text("t"),
            blocks=(
                Buttons(
                    buttons=(
                        Button(label="Cordon", line="node cordon gpu-a04", style=ButtonStyle.DANGER),
                        Button(label="Too long", line=long),
                    )
                ),
            ),
        )
    )
    (actions,) = [block for block in _all_blocks(message) if block["type"] == "actions"]
    assert [(one["value"], one["action_id"], one["style"]) for one in actions["elements"]] == [
        ("node cordon gpu-a04", "line/0", "danger")
    ]
    assert "Too long” is too long for a button" in _shown(message)


def test_a_long_table_is_cut_with_a_note_and_attached_in_full() -> None:
    rows = tuple((f"gpu-a{number:03}", "95 °C") for number in range(900))
    message = render(Message(title=text("hot"), blocks=(Table(heading=("node", "heat"), rows=rows, more=7),)))
    assert "more lines: see the attached table.txt" in _shown(message)
    assert "… 7 more rows" in _shown(message)
    (file,) = message.files
    assert file.content.count("\n") == 901


def test_a_wide_table_is_shown_row_by_row_within_the_width() -> None:
    table = Table(
        heading=("training", "owner", "state", "reason", "since"),
        rows=(("team-a/llm-70b-pretrain", "ana", "waits", "no node with 8 free GPUs", "12 min"),),
    )
    lines = layout(table).split("\n")
    assert max(map(width_of, lines)) <= WIDTH
    assert "reason: no node with 8 free GPUs" in layout(table)


def test_columns_with_wide_characters_are_aligned() -> None:
    table = Table(heading=("节点", "heat"), rows=(("gpu-a04", "95"), ("显卡节点", "7")))
    columns = {width_of(line[: line.rindex(" ") + 1]) for line in layout(table).split("\n")}
    assert len(columns) == 1


def test_text_from_outside_cannot_close_its_code_fence() -> None:
    message = render(Message(title=text("t"), blocks=(Preformatted(lines=("a ``` <!channel>",)),)))
    (section,) = [block["text"]["text"] for block in _all_blocks(message) if block["type"] == "section"][1:]
    assert section.count("```") == 2
    assert "<!" not in section


_SPANS = st.builds(Span, st.text(max_size=60), st.sampled_from(Style), st.text(max_size=20))
_TEXTS = st.lists(_SPANS, max_size=4).map(tuple)
_STRINGS = st.text(max_size=200) | st.text("x<&\n`", min_size=2900, max_size=3300)
_BUTTONS = st.builds(
    Button,
    label=st.text(min_size=1, max_size=90),
    line=st.text(min_size=1, max_size=2100),
    style=st.sampled_from(ButtonStyle),
    address=st.sampled_from(("", "https://grafana/d/1", "https://x/" + "y" * 3000)),
)
_BLOCKS = st.one_of(
    st.builds(Paragraph, text=_TEXTS | _STRINGS.map(text)),
    st.builds(Context, text=_TEXTS),
    st.builds(Fields, rows=st.lists(st.tuples(st.text(max_size=30), _TEXTS), max_size=25).map(tuple)),
    st.builds(Preformatted, lines=st.lists(_STRINGS, max_size=5).map(tuple)),
    st.builds(
        Table,
        heading=st.just(("a", "b")),
        rows=st.lists(st.tuples(st.text(max_size=40), st.text(max_size=40)), max_size=200).map(tuple),
        more=st.integers(0, 9),
    ),
    st.builds(
        Buttons,
        buttons=st.lists(_BUTTONS, max_size=30).map(tuple),
        menus=st.lists(
            st.builds(
                Menu,
                label=st.text(min_size=1, max_size=90),
                options=st.lists(_BUTTONS, max_size=8).map(tuple),
                is_more=st.booleans(),
                people_line=st.just("") | st.text(min_size=1, max_size=300),
            ),
            max_size=3,
        ).map(tuple),
    ),
)


@share(0.6, suppress_health_check=list(HealthCheck))
@given(
    st.builds(
        Message,
        title=_TEXTS,
        color=st.sampled_from(Color),
        blocks=st.lists(_BLOCKS, max_size=12).map(tuple),
        summary=st.text(max_size=5000),
    )
)
def test_any_message_is_within_slacks_limits(message: Message) -> None:
    rendered = render(message)
    assert len(rendered.text) <= 4000
    blocks = _all_blocks(rendered)
    assert mistakes_in_blocks(blocks, LIMITS) == []
    assert not is_too_large(blocks, LIMITS)
    ids = [one["action_id"] for block in blocks if block["type"] == "actions" for one in block["elements"]]
    assert len(ids) == len(set(ids))


def test_text_is_cut_by_its_length_after_escaping() -> None:
    message = render(Message(title=(), summary="<" * 5000))
    assert len(message.text) <= 3500
    assert message.text.endswith("&lt;…")


def test_a_thread_reply_is_text_only() -> None:
    message = render_line(text("resolved after 3 min by ", person("U0ANA00000")))
    assert message == SlackMessage(text="resolved after 3 min by <@U0ANA00000>")


def test_attachments_of_a_message_become_files() -> None:
    file = Attachment(name="log.txt", content="a\n")
    assert render(Message(title=text("t"), attachments=(file,))).files == (file,)


def test_bold_text_touches_its_asterisks() -> None:
    assert mrkdwn(text(bold("Next: "), code("node show a"))) == "*Next:* `node show a`"
    assert mrkdwn(text("node", bold(" is hot "), "now")) == "node *is hot* now"
    assert mrkdwn(text(bold("  "))) == "  "
