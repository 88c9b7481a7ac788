"""Slack's own tables: a moment in a cell is shown in the reader's time."""

from datetime import UTC, datetime

from alerts.cards.message import Message, Table
from alerts.cards.text import text
from bot.channels.slack.blocks import render
from bot.channels.slack.native_tables import native_table
from collectors.facts.sentences import moment_words
from demo.lookalikes.slack.kit.blocks import mistakes_in_blocks

AT = datetime(2026, 3, 2, 12, 34, 56, tzinfo=UTC)
TABLE = Table(
    heading=("when", "what"),
    rows=(
        (moment_words(AT), "confirmed"),
        ("never", f"until {moment_words(AT)}, *then* again"),
        ("2026-02-31 12:00 UTC", "no such day"),
    ),
)
DATE = {
    "type": "date",
    "timestamp": 1772454840,
    "format": "{date_short_pretty} {time}",
    "fallback": "2026-03-02 12:34 UTC",
}


def cell(*elements: object) -> object:
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": list(elements)}]}


def test_a_moment_in_a_cell_is_a_date_of_slack_and_the_rest_is_plain_text() -> None:
    found = native_table(TABLE)
    assert found is not None
    (block, left_out) = found

    assert left_out == 0
    assert block["rows"][1] == [cell(DATE), {"type": "raw_text", "text": "confirmed"}]
    assert block["rows"][2][1] == cell(
        {"type": "text", "text": "until "}, DATE, {"type": "text", "text": ", *then* again"}
    )
    assert block["rows"][3][0] == {"type": "raw_text", "text": "2026-02-31 12:00 UTC"}


def test_slack_accepts_it() -> None:
    rendered = render(Message(title=text("Audit"), blocks=(TABLE,)))

    parts = [*rendered.blocks, *(b for part in rendered.attachments for b in part["blocks"])]
    assert mistakes_in_blocks(parts) == []
    assert [block["type"] for block in parts].count("table") == 1
