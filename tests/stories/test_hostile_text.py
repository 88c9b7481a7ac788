"""Text from outside stays text: it never becomes a mention, markup, a button's command, or a visible secret."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from demo.lookalikes.slack.state.messages import Message
from tests.support.light import CHANNEL, ERROR_LOGS, HOT, light, ready_node
from tests.support.log_documents import host_line
from tests.support.rule_file import rule, rule_file
from tests.support.scripted_prometheus import Truth

SECRET = "AKIAABCDEFGHIJKLMNOP"  # the shape of an AWS key
HOSTILE = {
    "a mention of the channel": "<!channel> look",
    "a mention of a person": "<@U0ELI00000>",
    "a link that hides its target": "<https://evil.example|grafana>",
    "bold, code and a fence": "*bold* `code` ```fence``` ~no~ _it_",
    "HTML": "<script>alert(1)</script>&amp;&lt;!here&gt;",
    "quotes and a command": "x\" ; node uncordon gpu-b01 --reason 'y",
    "newlines that imitate a card": "ok\n\n*Resolved* after 1 min\n<!here>",
    "template braces": "{{ $labels.node }} {node} {{ query `up` }}",
    "ten thousand characters": "A" * 10_000,
    "right to left": "\u202egnp.exe",
}
RULES = rule_file(
    "story",
    rule(
        "GPUTemperatureHigh",
        "gpu-a01 is hot: {{ $labels.note }}",
        expr=HOT,
        more={"description": "note {{ $labels.note }}"},
    ),
)


@pytest.fixture(params=list(HOSTILE.values()), ids=list(HOSTILE))
def hostile(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


def rendered_json(message: Message) -> str:
    """Return what Slack renders as markup in a message: the fallback of an attachment is plain text."""

    def read(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: read(value) for key, value in part.items() if key != "fallback"}
        return [read(one) for one in part] if isinstance(part, list) else part

    return json.dumps(read(message.body), ensure_ascii=False)


def assert_harmless(message: Message) -> None:
    """Assert that the message has no mention, link or markup from outside."""
    sent = rendered_json(message)
    for markup in ("<!channel", "<!here", "<@U0ELI", "<https://evil", "<script"):
        assert markup not in sent
    shown = json.dumps([*message.blocks, *(part.get("blocks") for part in message.attachments)])
    assert "*Resolved*" not in re.sub(r"```.*?```|`[^`]*`", "", shown)  # a notification's text has no markup
    for block in [*message.blocks, *(b for part in message.attachments for b in part.get("blocks", ()))]:
        text = (block.get("text") or {}).get("text", "")
        assert text.count("```") in (0, 2)
        assert len(text) <= 3000


def button_lines(message: Message) -> list[str]:
    """Return the command lines of the buttons and menus."""
    parts = [*message.blocks, *(b for part in message.attachments for b in part.get("blocks", ()))]
    elements = [one for block in parts if block["type"] == "actions" for one in block["elements"]]
    return [choice["value"] for one in elements for choice in one.get("options", [one])]


async def test_a_label_from_outside_is_shown_as_plain_text(tmp_path: Path, hostile: str) -> None:
    async with light(tmp_path, rules=RULES) as stage:
        stage.prometheus.truth.say(HOT, ({"node": "gpu-a01", "note": hostile}, 91), since=stage.clock.now())
        card = await stage.card("gpu-a01 is hot")
        assert_harmless(card)
        own = ("alert ack i1", "alert why i1", "silence incident i1")
        assert all(line.startswith(own) for line in button_lines(card))
        answer = await stage.asks("dana", "alert why i1")
        assert_harmless(answer)


async def test_a_log_line_from_outside_is_shown_as_plain_text_without_its_secrets(
    tmp_path: Path, hostile: str
) -> None:
    async with light(tmp_path, own_rules=ERROR_LOGS) as stage:
        message = f"{hostile} password=hunter2 {SECRET}" if len(hostile) < 1000 else hostile
        await stage.elastic.index(
            [host_line(stage.clock.now(), message, node="gpu-a01", unit="kubelet", level="error")]
        )
        card = await stage.card("gpu-a01 logs errors")
        assert_harmless(card)
        assert "hunter2" not in rendered_json(card)
        assert SECRET not in rendered_json(card)


async def test_an_action_is_not_suggested_if_a_value_is_more_than_one_word(tmp_path: Path) -> None:
    rules = json.loads(json.dumps(RULES))
    rules["groups"][0]["rules"][0]["annotations"]["actions"] = "node cordon {node}\n"
    async with light(tmp_path, own_rules=None, rules=rules) as stage:
        stage.prometheus.truth.say(
            HOT, ({"node": "gpu-b01 --reason x", "note": "n"}, 91), since=stage.clock.now()
        )
        card = await stage.card("is hot")
        assert not [line for line in button_lines(card) if line.startswith("node")]


async def test_a_reason_typed_by_a_person_is_shown_as_plain_text(tmp_path: Path, hostile: str) -> None:
    async with light(tmp_path) as stage:
        reason = hostile.replace('"', "'")[:500]
        await stage.slack.types("dana", CHANNEL, f'/yard node cordon gpu-a01 --reason "{reason}"')
        preview = (await stage.slack.until(lambda: stage.slack.ephemerals("dana"), 60))[0]
        assert_harmless(preview)
        assert all(line.startswith("plan ") for line in button_lines(preview))
        await stage.presses("dana", preview, "Confirm")
        card = await stage.card("Cordon gpu-a01: done")
        assert_harmless(card)


async def test_an_answer_shows_no_token(tmp_path: Path) -> None:
    async with light(tmp_path, truth=Truth()) as stage:
        ready_node(stage.kube, "gpu-b09")
        answer = await stage.asks("dana", "node show gpu-b09")
        assert_harmless(answer)
        assert "xoxb-" not in rendered_json(answer)
