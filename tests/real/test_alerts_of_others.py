"""Real programs send alerts to us and read them back: Prometheus, Alertmanager's webhook, amtool."""

import asyncio
import json
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from demo.parts.prometheus import PrometheusServer, find_prometheus
from tests.real.fixtures import present_or_skip
from tests.real.servers.alertmanager import AlertmanagerServer, find_alertmanager
from tests.support.light import TOKEN, Light, light

pytestmark = pytest.mark.real

PROMETHEUS = """\
global: {{scrape_interval: 1s, evaluation_interval: 1s, external_labels: {{prometheus_replica: "{replica}"}}}}
rule_files: [{rules}]
alerting:
  alertmanagers:
    - authorization: {{credentials: {token}}}
      static_configs: [{{targets: ["{target}"]}}]
"""
RULES = """\
groups:
  - name: switches
    rules:
      - alert: LinkDown
        expr: vector({value}) > 0
        labels: {{severity: critical, node: gpu-a01}}
        annotations: {{summary: "A link of gpu-a01 is down."}}
"""
ALERTMANAGER = """\
route: {{receiver: yard, group_by: [alertname], group_wait: 100ms, group_interval: 200ms}}
receivers:
  - name: yard
    webhook_configs:
      - url: "{address}/hooks/alertmanager"
        http_config: {{authorization: {{credentials: {token}}}}}
"""


async def amtool(amtool_path: Path, stage: Light, *words: str) -> str:
    """Run amtool against the bot, and return what it prints."""
    config = stage.folder / "amtool-http.yml"
    config.write_text(f"authorization: {{credentials: {TOKEN}}}\n", encoding="utf-8")
    run = await asyncio.create_subprocess_exec(
        str(amtool_path),
        f"--alertmanager.url={stage.yard.server.address}",
        f"--http.config.file={config}",
        *words,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await run.communicate()
    assert run.returncode == 0, errors.decode()
    return out.decode()


async def test_two_replicas_of_prometheus_deliver_an_alert_and_its_end(tmp_path: Path) -> None:
    present_or_skip(find_prometheus)
    rules = tmp_path / "switches.yml"
    rules.write_text(RULES.format(value=1), encoding="utf-8")
    async with light(tmp_path / "yard") as stage, AsyncExitStack() as stack:
        target = stage.yard.server.address.removeprefix("http://")
        servers = [
            await stack.enter_async_context(
                PrometheusServer(
                    config=PROMETHEUS.format(replica=replica, rules=rules, token=TOKEN, target=target),
                    folder=tmp_path / replica,
                    flags=("--rules.alert.resend-delay=2s",),  # what is sent before it knows of us is dropped
                )
            )
            for replica in ("a", "b")
        ]
        card = await stage.card("A link of gpu-a01 is down")
        assert "Cordon gpu-a01" in card.said
        received = stage.yard.metrics.registry.get_sample_value
        await stage.until(lambda: (received("yardmaster_alerts_received_total") or 0) >= 4)
        rules.write_text(RULES.format(value=0), encoding="utf-8")
        for server in servers:
            await server.reload()
        await stage.slack.until(lambda: "Resolved" in card.said, 60)
        assert len(stage.cards()) == 1


async def test_the_webhook_of_an_alertmanager_delivers_an_alert_and_its_end(
    tmp_path: Path, amtool_path: Path
) -> None:
    present_or_skip(find_alertmanager)
    async with light(tmp_path / "yard") as stage:
        with ExitStack() as servers:
            config = ALERTMANAGER.format(address=stage.yard.server.address, token=TOKEN)
            there = await asyncio.to_thread(
                servers.enter_context, AlertmanagerServer(folder=tmp_path / "alertmanager", config=config)
            )
            labels = ("alertname=LinkDown", "severity=critical", "node=gpu-a01")
            await _amtool_of(amtool_path, there.url, *labels)
            card = await stage.card("LinkDown")
            await _amtool_of(amtool_path, there.url, *labels, end="2020-01-01T00:00:00Z")
            await stage.slack.until(lambda: "Resolved" in card.said, 60)
            assert len(stage.cards()) == 1


async def _amtool_of(amtool_path: Path, url: str, *labels: str, end: str = "") -> None:
    given = (f"--end={end}", "--start=2019-01-01T00:00:00Z") if end else ()
    words = (f"--alertmanager.url={url}", "alert", "add", *given, *labels)
    run = await asyncio.create_subprocess_exec(str(amtool_path), *words)
    assert await run.wait() == 0


async def test_amtool_adds_queries_silences_and_expires(tmp_path: Path, amtool_path: Path) -> None:
    async with light(tmp_path) as stage:
        await amtool(amtool_path, stage, "alert", "add", "LinkDown", "severity=critical", "node=gpu-a01")
        await amtool(amtool_path, stage, "alert", "add", "FanDown", "severity=warning", "node=gpu-b01")
        await stage.card("FanDown")

        async def names(*words: str) -> list[str]:
            shown: list[dict[str, Any]] = json.loads(
                await amtool(amtool_path, stage, "-o", "json", "alert", "query", *words)
            )
            return sorted(one["labels"]["alertname"] for one in shown)

        assert await names() == ["FanDown", "LinkDown"]
        assert await names("node=gpu-b01") == ["FanDown"]
        id = (
            await amtool(
                amtool_path,
                stage,
                *(
                    "silence",
                    "add",
                    "--duration=2h",
                    "--comment=fans ordered",
                    "--author=eve",
                    "alertname=FanDown",
                ),
            )
        ).strip()
        assert await names() == ["LinkDown"]
        assert await names("--silenced") == ["FanDown"]
        assert "fans ordered" in await amtool(amtool_path, stage, "silence", "query")
        listed = await stage.asks("dana", "silence list")
        assert id in listed.said
        assert "ci" in listed.said  # who holds the token, not whom the body names
        await amtool(amtool_path, stage, "silence", "expire", id)
        assert await names() == ["FanDown", "LinkDown"]


async def test_the_groups_the_receivers_and_the_status_are_answered(
    tmp_path: Path, amtool_path: Path
) -> None:
    async with light(tmp_path) as stage, aiohttp.ClientSession(stage.yard.server.address) as http:
        await amtool(amtool_path, stage, "alert", "add", "LinkDown", "severity=critical", "node=gpu-a01")
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        async with http.get("/api/v2/alerts/groups", headers=bearer) as answer:
            (group,) = await answer.json()
        assert group["labels"] == {"alertname": "LinkDown"}
        async with http.get("/api/v2/status", headers=bearer) as answer:
            assert (await answer.json())["cluster"]["status"] == "disabled"
        async with http.get("/api/v2/receivers", headers=bearer) as answer:
            assert await answer.json() == [{"name": "yardmaster"}]
        for path in ("alerts", "alerts/groups", "silences", "silence/s1", "status", "receivers"):
            async with http.get(f"/api/v2/{path}") as answer:
                assert answer.status == 401


async def test_the_fingerprint_is_alertmanagers(
    tmp_path: Path, amtool_path: Path, real_alertmanager: AlertmanagerServer
) -> None:
    labels = ("alertname=Fingerprint", "ort=Köln", "node=gpu-a01", "text=a b=c")
    await _amtool_of(amtool_path, real_alertmanager.url, *labels)
    async with light(tmp_path) as stage, aiohttp.ClientSession() as http:
        await amtool(amtool_path, stage, "alert", "add", *labels)
        found = []
        for url in (real_alertmanager.url, stage.yard.server.address):
            async with http.get(
                f"{url}/api/v2/alerts?filter=alertname=Fingerprint",
                headers={"Authorization": f"Bearer {TOKEN}"},
            ) as answer:
                (shown,) = await answer.json()
            found.append((shown["fingerprint"], shown["labels"], set(shown), set(shown["status"])))
        assert found[0] == found[1]
