"""`runbook` prints the shipped pages as messages, filled in with the incident at hand."""

from pathlib import Path

import pytest

from alerts.cards.message import Message, Paragraph, Preformatted
from alerts.cards.text import plain, text
from alerts.incidents.incident import Incident
from alerts.runbooks import runbook_names, runbook_page
from bot.channels.slack.blocks import render
from commands.core.request import Request
from commands.execution.plan import Origin
from commands.runbook.markdown import title_and_blocks
from tests.support.alerting import an_alert
from tests.support.incident_yard import yard_with
from tests.support.incidents import an_open_incident
from tests.support.yard import DANA, text_of

PAGE = """# A heading

Words with `code`, **bold**, [a page](gpu-idle.md) and
[a link](https://x/y).

## Section

- one
  goes on
- two

```text
/yard node show {node}
```
"""


def test_markdown_becomes_paragraphs_lists_and_fixed_text() -> None:
    title, blocks = title_and_blocks(PAGE)

    assert title == "A heading"
    assert [plain(one.text) for one in blocks if isinstance(one, Paragraph)] == [
        "Words with code, bold, runbook gpu-idle and a link.",
        "Section\n• one goes on\n• two",
    ]
    assert [one.lines for one in blocks if isinstance(one, Preformatted)] == [("/yard node show {node}",)]


@pytest.mark.parametrize("name", runbook_names())
def test_every_page_fits_into_one_message(name: str) -> None:
    title, blocks = title_and_blocks(runbook_page(name))

    assert title
    shown = "\n".join(plain(one.text) for one in blocks if isinstance(one, Paragraph))
    assert [sign for sign in ("](", "**", "## ") if sign in shown] == []
    assert render(Message(title=text(title), blocks=blocks)).files == ()


async def test_a_page_is_printed_by_its_name(tmp_path: Path) -> None:
    async with yard_with(tmp_path) as yard:
        page = await yard.say("runbook gpu-temperature-high")
        assert page.startswith("A GPU is hot")
        assert "/yard node show {node}" in page
        assert "[Show" not in page  # nothing says which node
        assert "gpu-idle" in await yard.say("runbook")
        assert "Did you mean gpu-idle" in await yard.say("runbook gpu-idel")


@pytest.mark.parametrize(
    ("name", "command", "button"),
    [
        pytest.param(
            "gpu-temperature-high",
            "/yard node show gpu-a01",
            'node cordon gpu-a01 --reason "GPU hot"',
            id="the node",
        ),
        pytest.param("never-seen-error", "/yard alert ack i1", "alert ack i1", id="the incident"),
    ],
)
async def test_on_a_card_a_page_is_filled_in_and_its_commands_are_buttons(
    tmp_path: Path, name: str, command: str, button: str
) -> None:
    incident: Incident = an_open_incident(an_alert(on={"node": "gpu-a01"}))
    async with yard_with(tmp_path, incident) as yard:
        request = Request(
            id="r1",
            line=f"runbook {name}",
            actor=DANA,
            at=yard.clock.now(),
            origin=Origin(via="slack", channel="slack:C1", incident="i1"),
        )
        answer = await yard.pipeline.handle(request)
        assert answer is not None
        page = text_of(answer.message)
        assert command in page
        assert any(line.startswith("[") and line.endswith(button) for line in page.splitlines())
