"""The HTTP endpoints, as senders, probes and strangers use them."""

import io
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.http.server import MAX_BODY, MAX_FILE
from tests.support.light import HOT, TOKEN, Light, light

BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30)) as session:
        yield session


async def posts(
    http: aiohttp.ClientSession, stage: Light, body: Any, headers: dict[str, str] | None = None
) -> tuple[int, dict[str, str]]:
    """Post a line and return the status and the answer."""
    address = f"{stage.yard.server.address}/api/yard/lines"
    content = {"data": body} if isinstance(body, bytes | str) else {"json": body}
    async with http.post(address, headers=BEARER if headers is None else headers, **content) as answer:
        return answer.status, await answer.json(content_type=None)


async def test_health_readiness_and_metrics(tmp_path: Path, http: aiohttp.ClientSession) -> None:
    async with light(tmp_path) as stage:
        stage.prometheus.truth.say(HOT, ({"node": "gpu-a01", "gpu": "3"}, 91.0), since=stage.clock.now())
        await stage.card("gpu-a01 is hot")
        await stage.next_rounds()
        address = stage.yard.server.address
        async with http.get(f"{address}/healthz") as answer:
            assert (answer.status, await answer.text()) == (200, "ok\n")
        async with http.get(f"{address}/readyz") as answer:
            assert answer.status == 200
        async with http.get(f"{address}/metrics") as answer:
            text = await answer.text()
        assert 'yardmaster_source_up{cluster="prod-a",source="prometheus"} 1.0' in text
        assert 'yardmaster_rule_evaluations_total{cluster="prod-a"}' in text
        assert 'yardmaster_alerts{cluster="prod-a",state="firing"} 1.0' in text
        assert 'yardmaster_watch_lag_seconds{cluster="prod-a",kind="nodes"}' in text
        await stage.prometheus.goes("refused")
        await stage.until(lambda: "prometheus" in stage.yard.evaluators["prod-a"].blind)
        await stage.next_rounds(1)
        async with http.get(f"{address}/metrics") as answer:
            assert 'yardmaster_source_up{cluster="prod-a",source="prometheus"} 0.0' in await answer.text()


async def test_not_ready_before_the_first_evaluation(tmp_path: Path, http: aiohttp.ClientSession) -> None:
    async with light(tmp_path) as stage:
        stage.yard.evaluators["prod-a"].has_evaluated = False
        await stage.prometheus.goes("hang")  # the next cycle takes at least a second
        async with http.get(f"{stage.yard.server.address}/readyz") as answer:
            assert answer.status == 503
            assert "not evaluated yet: prod-a" in await answer.text()


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Bearer {TOKEN[:-1]}"},
        {"Authorization": "Bearer ünïcödé"},
        {"Authorization": f"Basic {TOKEN}"},
        {"X-Token": TOKEN},
    ],
    ids=["none", "empty", "wrong", "longer", "shorter", "not ASCII", "another scheme", "another header"],
)
async def test_without_the_token_nothing_is_run_or_revealed(
    tmp_path: Path, http: aiohttp.ClientSession, headers: dict[str, str]
) -> None:
    async with light(tmp_path) as stage:
        status, answer = await posts(http, stage, {"line": "node list"}, headers)
        assert status == 401
        assert "gpu-a01" not in str(answer)
        assert TOKEN not in str(answer)
        assert not await stage.audit()


async def test_a_line_with_a_token_runs_as_its_actor(tmp_path: Path, http: aiohttp.ClientSession) -> None:
    async with light(tmp_path) as stage:
        status, answer = await posts(http, stage, {"line": "node list"})
        assert status == 200
        assert "gpu-a01" in answer["text"]
        status, answer = await posts(http, stage, {"line": "node cordon gpu-a01 --reason ci"})
        assert "Cordon gpu-a01?" in answer["text"]
        (plan,) = await stage.plans()
        assert (plan.actor, plan.origin.via) == ("token:ci", "terminal")
        status, answer = await posts(http, stage, {"line": f"plan confirm {plan.id} --hash {plan.hash}"})
        await stage.plan_is("done")
        await stage.card("Cordon gpu-a01: done")  # posted in the configured channel
        status, answer = await posts(http, stage, {"line": "noed list"})
        assert (status, answer["outcome"], "Did you mean node list?" in answer["text"].replace("`", "")) == (
            200,
            "wrong",
            True,
        )


async def test_a_token_whose_team_lacks_the_permission_is_refused_and_audited(
    tmp_path: Path, http: aiohttp.ClientSession
) -> None:
    async with light(tmp_path, start=False) as stage:
        stage.settings["http"]["auth"]["tokens"][0]["teams"] = ["vision"]
        await stage.start()
        _, answer = await posts(http, stage, {"line": "node cordon gpu-a01"})
        assert "Only sre may run node cordon; you are in vision." in answer["text"].replace("`", "")
        assert answer["outcome"] == "refused"
        assert [(entry.actor, entry.what) for entry in await stage.audit()] == [("token:ci", "refused")]


async def test_a_request_id_is_handled_once(tmp_path: Path, http: aiohttp.ClientSession) -> None:
    async with light(tmp_path) as stage:
        line = {"line": "node cordon gpu-a01", "id": "build-7"}
        answers = [await posts(http, stage, line) for _ in range(4)]
        assert [status for status, _ in answers] == [200] * 4
        assert [bool(answer["text"]) for _, answer in answers] == [True, False, False, False]
        assert len(await stage.plans()) == 1
        await posts(http, stage, {**line, "id": "build-8"})
        assert len(await stage.plans()) == 2


MALFORMED: dict[str, Any] = {
    "not JSON": b"node list",
    "empty": b"",
    "not UTF-8": b'{"line": "\xff\xfe"}',
    "the wrong type": {"line": 7},
    "a list": ["node list"],
    "no line": {"id": "x"},
    "an unknown field": {"line": "node list", "actor": "root"},
    "deeply nested": b"[" * 100_000,
}


@pytest.mark.parametrize("body", list(MALFORMED.values()), ids=list(MALFORMED))
async def test_a_malformed_body_is_refused_with_a_hint_and_does_no_harm(
    tmp_path: Path, http: aiohttp.ClientSession, body: Any
) -> None:
    async with light(tmp_path) as stage:
        status, answer = await posts(http, stage, body)
        assert status == 400
        assert "node list" in answer["error"]
        status, _ = await posts(http, stage, {"line": "node list"})
        assert status == 200


async def test_a_body_that_is_too_large_is_refused(tmp_path: Path, http: aiohttp.ClientSession) -> None:
    async with light(tmp_path) as stage:
        address = f"{stage.yard.server.address}/api/yard/lines"
        async with http.post(address, headers=BEARER, data=io.BytesIO(b" " * (MAX_BODY + 1))) as answer:
            assert answer.status == 413
        status, _ = await posts(http, stage, {"line": "node list"})
        assert status == 200


async def test_files_come_with_a_line_and_what_is_wrong_in_one_is_said_with_its_line(
    tmp_path: Path, http: aiohttp.ClientSession
) -> None:
    spec = b"name: detr\nimage: registry.example/vision/detr:3\nhostPath: /etc\n"
    async with light(tmp_path) as stage:
        line = {"line": "training launch detr --spec"}
        file = {"name": "detr.yaml", "content": b64encode(spec).decode()}
        _, answer = await posts(http, stage, {**line, "files": [file]})
        assert "detr.yaml" in answer["text"]
        assert "line 3" in answer["text"]
        large = {**file, "content": b64encode(b"#" * (MAX_FILE + 1)).decode()}
        for files in ([large], [file] * 5):
            status, _ = await posts(http, stage, {**line, "files": files})
            assert status == 400


async def test_the_slack_endpoint_does_not_exist_in_socket_mode(
    tmp_path: Path, http: aiohttp.ClientSession
) -> None:
    async with (
        light(tmp_path) as stage,
        http.post(f"{stage.yard.server.address}/slack/events", data=b"{}") as answer,
    ):
        assert answer.status == 404
