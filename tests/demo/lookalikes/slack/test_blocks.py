"""Blocks are refused with Slack's words and the place of each diagnostic."""

from typing import Any

import pytest

from demo.lookalikes.slack.kit.blocks import mistakes_in_blocks, mistakes_in_view
from demo.lookalikes.slack.kit.visible_text import said


def section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def button(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "button", "text": {"type": "plain_text", "text": text}, **more}


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        pytest.param(
            [section("x" * 3001)],
            "must be less than 3001 characters [json-pointer:/blocks/0/text/text]",
            id="a section that is too long",
        ),
        pytest.param(
            [section("x" * 3001)],
            "failed to match all allowed schemas [json-pointer:/blocks/0/text]",
            id="a text object of no allowed kind",
        ),
        pytest.param(
            [section("")],
            "must be more than 0 characters [json-pointer:/blocks/0/text/text]",
            id="an empty text",
        ),
        pytest.param(
            [{"type": "video", "title": "x"}],
            "unsupported type: video [json-pointer:/blocks/0/type]",
            id="a kind of block that is not there",
        ),
        pytest.param(
            [{"type": "header"}],
            "missing required field: text [json-pointer:/blocks/0]",
            id="a header without its text",
        ),
        pytest.param(
            [{"type": "divider", "colour": "red"}],
            "invalid additional property: colour [json-pointer:/blocks/0]",
            id="a field that Slack does not know",
        ),
        pytest.param(
            [{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}],
            "unsupported type: mrkdwn [json-pointer:/blocks/0/text/type]",
            id="mrkdwn where only plain text may be",
        ),
        pytest.param(
            [{"type": "actions", "elements": [button("a", style="loud")]}],
            "must be one of: primary, danger [json-pointer:/blocks/0/elements/0/style]",
            id="a style that is not there",
        ),
        pytest.param(
            [{"type": "actions", "elements": [{"type": "plain_text_input"}]}],
            "unsupported type: plain_text_input [json-pointer:/blocks/0/elements/0/type]",
            id="an input outside of an input block",
        ),
        pytest.param(
            [{"type": "actions", "elements": [button("a", action_id="x"), button("b", action_id="x")]}],
            "`action_id` already exists: x [json-pointer:/blocks/0/elements/1/action_id]",
            id="two elements of one name",
        ),
        pytest.param(
            [{"type": "divider", "block_id": "b"}, {"type": "divider", "block_id": "b"}],
            "`block_id` already exists: b [json-pointer:/blocks/1/block_id]",
            id="two blocks of one name",
        ),
        pytest.param("text", "must provide an array [json-pointer:/blocks]", id="blocks that are no list"),
        pytest.param(
            [{"type": "section"}],
            "must define at least one of: text, fields [json-pointer:/blocks/0]",
            id="a section that says nothing",
        ),
    ],
)
def test_a_mistake_is_named_with_its_place(blocks: Any, words: str) -> None:
    assert words in mistakes_in_blocks(blocks)


def test_a_modal_with_inputs_needs_a_submit_button() -> None:
    title = {"type": "plain_text", "text": "Why"}
    ask = {"type": "input", "label": title, "element": {"type": "plain_text_input"}}
    assert mistakes_in_view({"type": "modal", "title": title, "blocks": [ask], "submit": title}) == []
    assert "submit" in mistakes_in_view({"type": "modal", "title": title, "blocks": [ask]})[0]


def test_what_is_said_reads_as_a_person_would_read_it() -> None:
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
