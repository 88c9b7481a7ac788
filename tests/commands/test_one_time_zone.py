"""People read every moment in their own time zone: a list gives its moments as dates, not as text in UTC."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from alerts.cards.message import Message, Table
from alerts.cards.text import text
from alerts.silences import Silence
from bot.channels.slack.blocks import render, render_view
from collectors.facts.sentences import sentence
from tests.support.alerting import an_alert
from tests.support.incidents import an_open_incident
from tests.support.remediations import a_breaker
from tests.support.rows import NOON, a_lease, an_audit_entry
from tests.support.yard import CLUSTER, DANA, Yard, yard_on

LINES = (
    "audit",
    "node list --out",
    "breaker list",
    "silence list",
    "alert list",
    "incident list --all",
    "incident show i7",
    "node show gpu-a01",
    "plan list",
    "remediation list --all",
    "home",
)
UTC_TEXT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)? UTC")


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    async with yard_on(tmp_path, "gpu-a01") as yard:
        alert = replace(an_alert(node="gpu-a01"), cluster=CLUSTER)
        incident = replace(an_open_incident(alert, id="i7"), cluster=CLUSTER)
        silence = Silence(
            id="s1",
            cluster=CLUSTER,
            matchers=(),
            starts_at=NOON,
            ends_at=NOON.replace(hour=23),
            by="U1",
            comment="fans",
        )
        lease = a_lease(NOON, "gpu-a01", id=f"{CLUSTER}/gpu-a01", cluster=CLUSTER)
        rows = (
            alert,
            incident,
            silence,
            lease,
            replace(an_audit_entry("a1"), cluster=CLUSTER),
            replace(a_breaker(), cluster=CLUSTER),
        )
        async with yard.store.unit() as unit:
            for row in rows:
                await unit.rows(type(row)).put(row)
        yield yard


def shown_in_utc(element: object) -> list[str]:
    """Return the texts in which a time of UTC stands for everybody; the fallback of a date is for old clients."""
    if isinstance(element, dict):
        rest = {
            key: value
            for key, value in element.items()
            if not (element.get("type") == "date" and key == "fallback")
        }
        return [text for value in rest.values() for text in shown_in_utc(value)]
    if isinstance(element, list):
        return [text for value in element for text in shown_in_utc(value)]
    bare = re.sub(r"<!date\^[^>]*>", "", element) if isinstance(element, str) else ""
    return [bare] if UTC_TEXT.search(bare) else []


async def test_no_list_has_a_moment_in_utc(yard: Yard) -> None:
    for line in LINES:
        answer = await yard.answer(line, DANA)
        assert answer is not None, line
        rendered = render(answer.message)
        parts = json.loads(json.dumps([*rendered.blocks, *rendered.attachments]))
        assert shown_in_utc(parts) == [], line


async def test_the_page_of_home_has_no_table_and_no_moment_in_utc(yard: Yard) -> None:
    """A view of Slack has no table of its own, so a moment in one would be text in UTC."""
    answer = await yard.answer("home", DANA)
    assert answer is not None
    assert not any(isinstance(block, Table) for block in answer.message.blocks)
    view = json.loads(json.dumps(list(render_view(answer.message))))
    assert "gpu-a01" in json.dumps(view)
    assert shown_in_utc(view) == []


def test_of_two_tables_the_one_with_moments_becomes_a_table_of_slack() -> None:
    """Slack has one table of its own in a message; the other is text, in which nothing is in the reader's time."""
    plain = Table(heading=("node", "rack"), rows=(("gpu-a01", "rack-a"),) * 3)
    with_moments = Table(heading=("node", "since"), rows=(("gpu-a02", sentence("since {at}", at=NOON)),))
    rendered = render(Message(title=text("t"), blocks=(plain, with_moments)))
    parts = json.loads(json.dumps([*rendered.blocks, *rendered.attachments]))
    assert shown_in_utc(parts) == []


async def test_the_audit_has_a_date_for_each_entry(yard: Yard) -> None:
    answer = await yard.answer("audit", DANA)
    assert answer is not None
    rendered = render(answer.message)
    assert json.dumps([*rendered.blocks, *rendered.attachments]).count('"type": "date"') >= 1
