"""Validation of blocks, with Slack's error texts and the location of each error."""

from typing import Any

import pytest

from demo.lookalikes.slack.kit.blocks import mistakes_in_blocks, mistakes_in_view
from demo.lookalikes.slack.kit.visible_text import said


def section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def button(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "button", "text": {"type": "plain_text", "text": text}, **more}


@pytest.mark.parametrize(
    ("blocks", "error"),
    [
        pytest.param(
            [section("x" * 3001)],
            "must be less than 3001 characters [json-pointer:/blocks/0/text/text]",
            id="section too long",
        ),
        pytest.param(
            [section("x" * 3001)],
            "failed to match all allowed schemas [json-pointer:/blocks/0/text]",
            id="text object of no allowed kind",
        ),
        pytest.param(
            [section("")],
            "must be more than 0 characters [json-pointer:/blocks/0/text/text]",
            id="empty text",
        ),
        pytest.param(
            [{"type": "video", "title": "x"}],
            "unsupported type: video [json-pointer:/blocks/0/type]",
            id="unknown block type",
        ),
        pytest.param(
            [{"type": "header"}],
            "missing required field: text [json-pointer:/blocks/0]",
            id="header without text",
        ),
        pytest.param(
            [{"type": "divider", "colour": "red"}],
            "invalid additional property: colour [json-pointer:/blocks/0]",
            id="unknown field",
        ),
        pytest.param(
            [{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}],
            "unsupported type: mrkdwn [json-pointer:/blocks/0/text/type]",
            id="mrkdwn where only plain text is allowed",
        ),
        pytest.param(
            [{"type": "actions", "elements": [button("a", style="loud")]}],
            "must be one of: primary, danger [json-pointer:/blocks/0/elements/0/style]",
            id="unknown style",
        ),
        pytest.param(
            [{"type": "actions", "elements": [{"type": "plain_text_input"}]}],
            "unsupported type: plain_text_input [json-pointer:/blocks/0/elements/0/type]",
            id="input outside an input block",
        ),
        pytest.param(
            [{"type": "actions", "elements": [button("a", action_id="x"), button("b", action_id="x")]}],
            "`action_id` already exists: x [json-pointer:/blocks/0/elements/1/action_id]",
            id="duplicate action id",
        ),
        pytest.param(
            [{"type": "divider", "block_id": "b"}, {"type": "divider", "block_id": "b"}],
            "`block_id` already exists: b [json-pointer:/blocks/1/block_id]",
            id="duplicate block id",
        ),
        pytest.param("text", "must provide an array [json-pointer:/blocks]", id="blocks not a list"),
        pytest.param(
            [{"type": "section"}],
            "must define at least one of: text, fields [json-pointer:/blocks/0]",
            id="section without content",
        ),
    ],
)
def test_an_error_carries_its_location(blocks: Any, error: str) -> None:
    assert error in mistakes_in_blocks(blocks)


def test_a_modal_with_inputs_needs_a_submit_button() -> None:
    title = {"type": "plain_text", "text": "Why"}
    ask = {"type": "input", "label": title, "element": {"type": "plain_text_input"}}
    assert mistakes_in_view({"type": "modal", "title": title, "blocks": [ask], "submit": title}) == []
    assert "submit" in mistakes_in_view({"type": "modal", "title": title, "blocks": [ask]})[0]


def test_a_message_is_rendered_as_the_text_that_a_reader_sees() -> None:
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "GPU hot"}},
        section("*gpu-a03* is at 91 °C"),
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "since 10:00"}]},
        {"type": "divider"},
        {"type": "actions", "elements": [button("Cordon"), button("Silence")]},
    ]
    message = {
        "text": "fallback",
        "blocks": blocks,
        "attachments": [{"color": "#f00", "blocks": [section("below")]}],
    }
    assert said(message).splitlines() == [
        "# GPU hot",
        "*gpu-a03* is at 91 °C",
        "since 10:00",
        "---",
        "[Cordon] [Silence]",
        "below",
    ]
