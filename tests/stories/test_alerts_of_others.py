"""Alerts that other programs send become cards, and end as their senders say."""

import io
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from alerts.alert import Alert
from alerts.store import StoreError
from bot.evaluation.recorder import IncidentRecorder
from bot.http.server import MAX_BODY
from bot.store.inbox_file import InboxFile
from tests.support.alert_sender import AlertSender
from tests.support.light import TOKEN, Light, light

BEARER = {"Authorization": f"Bearer {TOKEN}"}
LINK: dict[str, Any] = {
    "labels": {"alertname": "LinkDown", "severity": "critical", "node": "gpu-a01"},
    "annotations": {"summary": "A link of gpu-a01 is down.", "description": "Port 3 has no signal."},
    "generatorURL": "http://prometheus.example/graph?g0.expr=up",
}


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as session:
        yield session


async def send(
    http: aiohttp.ClientSession,
    stage: Light,
    *alerts: Any,
    headers: dict[str, str] = BEARER,
    to: str = "/api/v2/alerts",
) -> tuple[int, str]:
    """Post the alerts as Prometheus does, or `alerts[0]` as a webhook does, and return the status and the body."""
    body = list(alerts) if to.startswith("/api") else alerts[0]
    async with http.post(f"{stage.yard.server.address}{to}", json=body, headers=headers) as answer:
        return answer.status, await answer.text()


def replica(of: dict[str, Any], name: str, **more: Any) -> dict[str, Any]:
    return {**of, "labels": {**of["labels"], "prometheus_replica": name}, **more}


def moment(stage: Light, ago: timedelta = timedelta()) -> str:
    return (stage.clock.now() - ago).isoformat()


async def test_an_alert_of_two_replicas_is_one_card_that_ends_when_it_is_resolved(
    tmp_path: Path, http: aiohttp.ClientSession
) -> None:
    async with light(tmp_path) as stage:
        began = moment(stage, timedelta(minutes=3))
        for name in ("a", "b", "a"):
            assert await send(http, stage, replica(LINK, name, startsAt=began)) == (200, "")
        card = await stage.card("A link of gpu-a01 is down")
        assert f"<!date^{int(datetime.fromisoformat(began).timestamp())}^" in card.said
        assert "Cordon gpu-a01" in card.said
        await stage.slack.until(lambda: "Port 3 has no signal." in card.said)
        assert len(stage.cards()) == 1
        shown = await stage.asks("dana", "alert list")
        assert "LinkDown" in shown.said
        why = await stage.asks("dana", "alert why i1")
        assert "prometheus.example" in why.said

        assert await send(http, stage, replica(LINK, "b", startsAt=began, endsAt=moment(stage))) == (200, "")
        await stage.slack.until(lambda: "Resolved" in card.said)
        assert await send(http, stage, replica(LINK, "a", startsAt=began, endsAt=moment(stage))) == (200, "")
        await stage.next_rounds()
        assert len(stage.cards()) == 1


async def test_a_line_right_after_the_answer_shows_what_was_accepted(
    tmp_path: Path, http: aiohttp.ClientSession
) -> None:
    async with light(tmp_path) as stage:
        many = [
            {**LINK, "labels": {**LINK["labels"], "node": f"gpu-{number:03}", "job": "a"}}
            for number in range(300)
        ]
        for part in (many[:200], many[200:], [LINK]):
            assert await send(http, stage, *part) == (200, "")
        said = await line(http, stage, "alert why LinkDown")
        assert "LinkDown" in said
        assert "no alert" not in said.lower()
        last = {**LINK, "labels": {**LINK["labels"], "alertname": "FanDown"}}
        assert await send(http, stage, last) == (200, "")
        listed = await line(http, stage, "alert list")
        assert "FanDown" in listed
        assert "not yet shown" not in listed


async def line(http: aiohttp.ClientSession, stage: Light, words: str) -> str:
    address = f"{stage.yard.server.address}/api/yard/lines"
    async with http.post(address, json={"line": words}, headers=BEARER) as answer:
        return str((await answer.json())["text"])


async def test_an_alert_that_began_and_ended_while_nobody_listened_has_its_card(
    tmp_path: Path, http: aiohttp.ClientSession
) -> None:
    async with light(tmp_path) as stage:
        began, ended = moment(stage, timedelta(minutes=9)), moment(stage, timedelta(minutes=4))
        for _ in range(2):
            assert await send(http, stage, {**LINK, "startsAt": began, "endsAt": ended}) == (200, "")
        card = await stage.card("gpu-a01")
        assert "Resolved" in card.said
        assert "5 min" in card.said
        await stage.next_rounds()
        assert len(stage.cards()) == 1


async def test_an_alert_outlives_a_restart_and_a_long_stop_in_which_nobody_listened(
    tmp_path: Path, http: aiohttp.ClientSession
) -> None:
    async with light(tmp_path) as stage:
        assert await send(http, stage, LINK) == (200, "")
        card = await stage.card("A link of gpu-a01 is down")
        await stage.posts_are_confirmed()
        await stage.stop()
        stage.clock.forward(timedelta(hours=1))
        await stage.start()
        await stage.next_rounds()
        assert "Resolved" not in card.said
        assert await send(http, stage, {**LINK, "endsAt": moment(stage)}) == (200, "")
        await stage.slack.until(lambda: "Resolved" in card.said)
        assert len(stage.cards()) == 1


async def test_a_webhook_brings_all_alerts_of_its_group(tmp_path: Path, http: aiohttp.ClientSession) -> None:
    async with light(tmp_path) as stage:
        zero = "0001-01-01T00:00:00Z"
        alerts = [
            {
                **LINK,
                "labels": {"alertname": "LinkDown", "severity": "critical", "node": node},
                "annotations": {"summary": f"A link of {node} is down."},
                "status": "firing",
                "startsAt": moment(stage),
                "endsAt": zero,
                "fingerprint": "0",
            }
            for node in ("gpu-a01", "gpu-b01")
        ]
        body = {"version": "4", "status": "firing", "receiver": "yard", "groupKey": "{}", "alerts": alerts}
        assert await send(http, stage, body, to="/hooks/alertmanager") == (200, "")
        first, second = await stage.card("A link of gpu-a01"), await stage.card("A link of gpu-b01")
        alerts[1] |= {"status": "resolved", "endsAt": moment(stage)}
        assert await send(http, stage, body, to="/hooks/alertmanager") == (200, "")
        await stage.slack.until(lambda: "Resolved" in second.said)
        assert "Resolved" not in first.said


async def test_one_bad_alert_is_refused_by_its_number_and_the_others_are_kept(
    tmp_path: Path, http: aiohttp.ClientSession
) -> None:
    async with light(tmp_path) as stage:
        future = moment(stage, -timedelta(days=2))
        bad: list[Any] = [
            {"labels": {}},
            {"labels": {"": "c"}},
            {"labels": {"a": 5}},
            {"annotations": {}},
            "text",
            {"labels": {"a": "b"}, "startsAt": future},
            {"labels": {"a": "b"}, "startsAt": moment(stage), "endsAt": moment(stage, timedelta(hours=1))},
            {"labels": {f"l{number}": "x" for number in range(200)}},
            {"labels": {"a": "x" * 70_000}},
            {"labels": {"a": "b"}, "endsAt": "9999-12-31T23:59:59-12:00"},
        ]
        status, reason = await send(http, stage, *bad, LINK)
        assert status == 400
        for number in range(len(bad)):
            assert f"alert {number}: " in reason
        assert f"alert {len(bad)}: " not in reason
        await stage.card("A link of gpu-a01 is down")
        assert len(stage.cards()) == 1


@pytest.mark.parametrize(
    "body", [b"", b"{", b"{}", b'"text"', b"5", b"[" * 100_000, b"\xff\xfe", b'{"alerts": 5}']
)
async def test_a_body_that_is_no_list_of_alerts_is_refused(
    tmp_path: Path, http: aiohttp.ClientSession, body: bytes
) -> None:
    async with light(tmp_path) as stage:
        for path in ("/api/v2/alerts", "/hooks/alertmanager"):
            address = f"{stage.yard.server.address}{path}"
            async with http.post(address, data=body, headers=BEARER) as answer:
                is_empty = path.startswith("/api") and not body
                assert answer.status == (422 if is_empty else 400)
                assert (await answer.json())["code"] == (602 if is_empty else 400)
            async with http.post(address, data=body) as answer:
                assert answer.status == 401


async def test_what_the_store_does_not_take_is_not_acknowledged_and_comes_again(
    tmp_path: Path, http: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with light(tmp_path) as stage:

        async def full(*_: Any, **__: Any) -> None:
            raise StoreError("No space left on device")

        with monkeypatch.context() as faults:
            faults.setattr(InboxFile, "append", full)
            faults.setattr(IncidentRecorder, "record", full)
            status, _ = await send(http, stage, LINK)
            assert status == 503
            assert not stage.cards()
        sender = AlertSender(session=http, url=stage.yard.server.address, headers=BEARER)
        await sender.post_until_taken([LINK])
        await stage.card("A link of gpu-a01 is down")
        assert len(stage.cards()) == 1


@pytest.mark.parametrize("path", ["/api/v2/alerts", "/hooks/alertmanager"])
async def test_a_body_that_is_too_large_is_refused_and_the_next_is_taken(
    tmp_path: Path, http: aiohttp.ClientSession, path: str
) -> None:
    async with light(tmp_path) as stage:
        large = io.BytesIO(b"[" + b" " * MAX_BODY + b"]")
        async with http.post(f"{stage.yard.server.address}{path}", data=large, headers=BEARER) as answer:
            assert answer.status == 413
        assert (await send(http, stage, LINK))[0] == 200
        await stage.card("A link of gpu-a01 is down")


async def test_who_has_no_token_adds_no_alert(tmp_path: Path, http: aiohttp.ClientSession) -> None:
    async with light(tmp_path) as stage:
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}):
            for path, body in (("/api/v2/alerts", [LINK]), ("/hooks/alertmanager", {"alerts": [LINK]})):
                address = f"{stage.yard.server.address}{path}"
                async with http.post(address, json=body, headers=headers) as answer:
                    assert answer.status == 401
        async with stage.yard.store.read() as snapshot:
            assert list(await snapshot.rows(Alert).find()) == []
