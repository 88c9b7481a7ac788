"""The client of an Alertmanager reads whole answers, however they arrive."""

import asyncio
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.receiving import alertmanager_client
from bot.receiving.alertmanager_client import AlertmanagerClient, AlertmanagerError
from bot.receiving.silence_wire import WireMatcher, WireSilence
from tests.support.alerting import NOON

MANY = [
    WireSilence(
        matchers=[WireMatcher(name="node", value=f"gpu-{number}")],
        ends_at=NOON + timedelta(hours=1),
        id=f"u{number}",
    )
    for number in range(500)
]


async def _in_parts(request: web.Request) -> web.StreamResponse:
    body = msgspec.json.encode(MANY)
    answer = web.StreamResponse()
    await answer.prepare(request)
    for start in range(0, len(body), 10_000):
        await answer.write(body[start : start + 10_000])
        await asyncio.sleep(0)
    await answer.write_eof()
    return answer


async def _read() -> Any:
    app = web.Application()
    app.router.add_get("/api/v2/silences", _in_parts)
    async with TestServer(app) as server:
        return await AlertmanagerClient(url=str(server.make_url("/"))).silences()


async def test_an_answer_in_parts_is_read_to_its_end() -> None:
    assert [one.id for one in await _read()] == [one.id for one in MANY]


async def test_an_answer_that_is_too_long_is_refused_and_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alertmanager_client, "_MOST", 20_000)
    with pytest.raises(AlertmanagerError, match="longer than 20000 bytes"):
        await _read()
