"""Side by side with a real Alertmanager: one Prometheus sends to both, silences are shared, and refusals are alike."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from demo.parts.prometheus import PrometheusServer, find_prometheus
from tests.real.fixtures import present_or_skip
from tests.real.servers.alertmanager import AlertmanagerServer
from tests.real.test_alerts_of_others import RULES
from tests.support.light import TOKEN, light

pytestmark = pytest.mark.real

BEARER = {"Authorization": f"Bearer {TOKEN}"}
BOTH = """\
global: {{scrape_interval: 1s, evaluation_interval: 1s, external_labels: {{prometheus: monitoring/k8s}}}}
rule_files: [{rules}]
alerting:
  alertmanagers:
    - authorization: {{credentials: {token}}}
      static_configs: [{{targets: ["{ours}"]}}]
    - static_configs: [{{targets: ["{theirs}"]}}]
"""


async def amtool(path: Path, url: str, *words: str) -> str:
    run = await asyncio.create_subprocess_exec(
        str(path), f"--alertmanager.url={url}", *words, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await run.communicate()
    assert run.returncode == 0
    return out.decode()


async def active_silences(path: Path, url: str) -> list[str]:
    """Return the comments of the active silences."""
    shown: list[dict[str, Any]] = json.loads(await amtool(path, url, "-o", "json", "silence", "query"))
    return sorted(one["comment"] for one in shown)


async def test_both_see_every_alert_and_share_their_silences(
    tmp_path: Path, amtool_path: Path, real_alertmanager: AlertmanagerServer
) -> None:
    present_or_skip(find_prometheus)
    there = real_alertmanager.url
    rules = tmp_path / "switches.yml"
    rules.write_text(RULES.format(value=1), encoding="utf-8")
    await amtool(amtool_path, there, "silence", "add", "--comment=fans", "--author=eve", "node=gpu-b01")
    more = {"receive": {"alertmanager": {"url": there, "silences": "write"}}}
    async with light(tmp_path / "yard", more=more) as stage:
        config = BOTH.format(
            rules=rules,
            token=TOKEN,
            ours=stage.yard.server.address.removeprefix("http://"),
            theirs=there.removeprefix("http://"),
        )
        flags = ("--rules.alert.resend-delay=2s",)
        async with PrometheusServer(config=config, folder=tmp_path / "prometheus", flags=flags):
            await stage.card("A link of gpu-a01 is down")

            async def shown_there() -> bool:
                return "LinkDown" in await amtool(amtool_path, there, "alert", "query", "node=gpu-a01")

            await eventually(shown_there)
        assert "fans" in (await stage.asks("dana", "silence list")).said
        await stage.asks("dana", 'silence add alertname=LinkDown --for 2h --reason "cable ordered"')

        async def has_ours() -> bool:
            return any("cable ordered" in one for one in await active_silences(amtool_path, there))

        await eventually(has_ours)
        listed = (await stage.asks("dana", "silence list")).said
        assert listed.count("cable ordered") == 1
        await stage.asks("dana", "silence expire s2")

        async def has_only_theirs() -> bool:
            return await active_silences(amtool_path, there) == ["fans"]

        await eventually(has_only_theirs)


async def eventually(holds: Any) -> None:
    """Wait until it holds, asked again and again."""
    async with asyncio.timeout(90):
        while not await holds():  # noqa: ASYNC110 - another program's state
            await asyncio.sleep(0.2)


# Not among them: an alert without `labels`, or with a label that is no text. Alertmanager refuses the whole body with
# 422 or 400; we name the alert with 400, and keep the others.
FAR = "2040-01-01T00:00:00Z"
REFUSED: Sequence[tuple[str, str, Any]] = (
    ("POST", "alerts", b"{"),
    ("POST", "alerts", b"{}"),
    ("POST", "alerts", b""),
    ("POST", "alerts", b'"text"'),
    ("POST", "alerts", [{"labels": {}}]),
    ("POST", "alerts", [{"labels": {"": "b"}}]),
    ("POST", "alerts", [{"labels": {"a": "b"}, "startsAt": FAR, "endsAt": "2039-01-01T00:00:00Z"}]),
    ("POST", "silences", b"{"),
    ("POST", "silences", {}),
    ("POST", "silences", {"matchers": [], "startsAt": FAR, "endsAt": FAR, "createdBy": "a", "comment": "b"}),
    (
        "POST",
        "silences",
        {
            "matchers": [{"name": "a", "value": "b", "isRegex": False}],
            "startsAt": "2020-01-01T00:00:00Z",
            "endsAt": "2020-01-02T00:00:00Z",
            "createdBy": "a",
            "comment": "b",
        },
    ),
    ("GET", "alerts?filter=a%20b", None),
    ("GET", "alerts?active=maybe", None),
    ("GET", "alerts?receiver=(", None),
    ("GET", "silences?filter=a%20b", None),
)


@pytest.mark.parametrize(("method", "path", "body"), REFUSED)
async def test_what_is_refused_is_refused_as_alertmanager_does(
    tmp_path: Path, real_alertmanager: AlertmanagerServer, method: str, path: str, body: Any
) -> None:
    async with light(tmp_path) as stage, aiohttp.ClientSession() as http:
        found = []
        for url in (real_alertmanager.url, stage.yard.server.address):
            sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            headers = {**BEARER, "Content-Type": "application/json"}
            async with http.request(method, f"{url}/api/v2/{path}", data=sent, headers=headers) as answer:
                assert answer.status >= 400 or path.startswith("alerts?active")
                said = await answer.json(content_type=None)
                shape = sorted(said) if isinstance(said, dict) else type(said).__name__
                found.append((answer.status, shape, said["code"] if isinstance(said, dict) else None))
        assert found[1] == found[0]
