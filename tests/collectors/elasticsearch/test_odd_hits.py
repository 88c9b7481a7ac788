"""An odd hit is skipped and counted, and the others still count; a response of nothing but odd hits is blind."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from collectors.facts.labels import Labels
from collectors.facts.queries import LogQuery
from collectors.facts.results import Blind, Seen, SourceError
from collectors.sources.elasticsearch.options import ElasticsearchOptions
from collectors.sources.elasticsearch.source import ElasticsearchSource
from collectors.unreadable_items import UnreadableItems
from tests.collectors.elasticsearch.test_unexpected_responses import CAPS, PRODUCT, serving
from tests.support.log_matches import message

COMPLETE = {"timed_out": False, "_shards": {"total": 1, "successful": 1, "failed": 0}}
NOVEL = LogQuery(match=message("bus"), by=(), over=timedelta(minutes=5), novel=timedelta(days=1))


def hit(text: str, at: Any = "2026-01-10T12:00:00.000Z") -> dict[str, Any]:
    return {"fields": {"@timestamp": [at], "message": [text]}, "sort": [1]}


ODD = [
    pytest.param({"fields": {"message": ["x"]}}, id="no time"),
    pytest.param(hit("x", at="yesterday"), id="a time in words"),
    pytest.param(hit("x", at=None), id="a time of null"),
    pytest.param(hit("x", at="0001-01-01T00:00:00+23:00"), id="a time before the year 1"),
    pytest.param({"fields": {"@timestamp": "2026-01-10T12:00:00Z"}}, id="a value that is no list"),
    pytest.param({"fields": {"message": [{"a": 1}]}}, id="a message that is an object"),
    pytest.param({"fields": []}, id="fields that are a list"),
    pytest.param("hit", id="a text"),
    pytest.param(None, id="null"),
]


@pytest.fixture
def skipped() -> list[str]:
    return []


@pytest.fixture
def answers() -> list[Any]:
    """The hits of every search."""
    return []


@pytest.fixture
async def source(answers: list[Any], skipped: list[str]) -> AsyncIterator[ElasticsearchSource]:
    async def answer(request: web.Request) -> web.Response:
        body: dict[str, Any] = {**COMPLETE, "hits": {"hits": answers}}
        if "_field_caps" in request.path:
            body = CAPS
        elif "_pit" in request.path:
            body = {"id": "pit"}
        elif "_msearch" in request.path:
            searches = len((await request.text()).splitlines()) // 2
            body = {"responses": [{**COMPLETE, "hits": {"total": {"value": 0}}}] * searches}
        return web.json_response(body, headers=PRODUCT)

    unreadable = UnreadableItems(skipped.append)
    async with serving(answer) as url:
        options = ElasticsearchOptions(urls=(url,))
        async with ElasticsearchSource(options, unreadable=unreadable) as source:
            yield source


@pytest.mark.parametrize("odd", ODD)
async def test_an_odd_hit_is_skipped_and_counted(
    source: ElasticsearchSource, answers: list[Any], skipped: list[str], now: datetime, odd: Any
) -> None:
    answers[:] = [hit("second line"), odd, hit("first line")]
    lines = await source.lines(where={"node": "gpu-a01"}, at=now)
    assert [line.text for line in lines] == ["first line", "second line"]
    assert skipped == ["elasticsearch"]
    novel = await source.query(NOVEL, at=now)
    assert isinstance(novel, Seen)
    assert {sample.labels["pattern"] for sample in novel.samples} == {"first line", "second line"}
    assert novel.unread == (Labels(),)  # it may be a line of any alert
    answers[:] = [hit("second line"), hit("first line")]
    whole = await source.query(NOVEL, at=now)
    assert isinstance(whole, Seen)
    assert whole.unread == ()


async def test_nothing_but_odd_hits_is_blind(
    source: ElasticsearchSource, answers: list[Any], now: datetime
) -> None:
    answers[:] = [hit("x", at="yesterday"), None]
    with pytest.raises(SourceError, match="none of the 2 hits can be read"):
        await source.lines(where={"node": "gpu-a01"}, at=now)
    assert isinstance(await source.query(NOVEL, at=now), Blind)


async def test_the_same_odd_hit_is_logged_once(
    source: ElasticsearchSource, answers: list[Any], skipped: list[str], now: datetime
) -> None:
    answers[:] = [hit("x"), hit("secret", at="yesterday")]
    with capture_logs() as logs:
        for _ in range(3):
            await source.lines(where={"node": "gpu-a01"}, at=now)
    assert len(skipped) == 3
    (entry,) = logs
    assert entry["reason"] == "`@timestamp` of a hit is missing or is not a time"
