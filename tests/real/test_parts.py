"""This file proves that each real part starts and does the things that other tests need it for."""

import asyncio
import json
import subprocess
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from elasticsearch import AsyncElasticsearch
from playwright.async_api import async_playwright

from demo.parts.processes import PartError
from demo.parts.prometheus import PrometheusServer, import_openmetrics
from tests.real.servers.alertmanager import AlertmanagerServer
from tests.real.servers.chromium import CHROMIUM_FLAGS
from tests.real.servers.elasticsearch import ElasticsearchServer

_SCRAPES_ITSELF = """\
global: {{scrape_interval: 1s}}
scrape_configs: [{{job_name: {job}, static_configs: [{{targets: ["127.0.0.1:{port}"]}}]}}]
"""

_PAGE = """\
<!doctype html><meta charset="utf-8">
<p style="font:40px sans-serif">{sign}</p>
"""


async def test_prometheus_answers_about_what_it_scraped(
    start_prometheus: Callable[[str], PrometheusServer],
) -> None:
    server = start_prometheus("global: {scrape_interval: 1s}\n")
    await server.reload(_SCRAPES_ITSELF.format(job="itself", port=server.port))
    async with asyncio.timeout(30):
        while True:
            found = await asyncio.to_thread(_values, server, 'up{job="itself"}')
            if found:
                break
            await asyncio.sleep(0.1)
    assert found == ["1"]


def test_prometheus_answers_about_an_imported_past(tmp_path: Path, promtool_path: Path) -> None:
    past = datetime(2026, 1, 5, 12, tzinfo=UTC)
    samples = tmp_path / "past.om"
    samples.write_text(
        f'# TYPE gpu_temperature gauge\ngpu_temperature{{gpu="0"}} 61 {past.timestamp():.0f}\n# EOF\n',
        "utf-8",
    )
    import_openmetrics(samples, tmp_path / "server")
    with PrometheusServer(config="", folder=tmp_path / "server", retention=timedelta(days=7)) as server:
        assert _values(server, "gpu_temperature", at=past) == ["61"]


async def test_prometheus_that_refuses_a_configuration_goes_on_with_its_old_one(
    start_prometheus: Callable[[str], PrometheusServer],
) -> None:
    server = start_prometheus("global: {scrape_interval: 1s}\n")
    with pytest.raises(PartError, match=r"refused the configuration .*prometheus.yml(.|\n)*scrape_often"):
        await server.reload("global: {scrape_often: 1s}\n")
    assert "scrape_interval: 1s" in _ask(f"{server.url}/api/v1/status/config")["data"]["yaml"]


async def test_prometheus_that_cannot_start_says_why(promtool_path: Path, tmp_path: Path) -> None:
    with pytest.raises(PartError, match=r"Prometheus ended with status 2(.|\n)*scrape_often"):
        async with PrometheusServer(config="global: {scrape_often: 1s}\n", folder=tmp_path):
            pass


def test_prometheus_starts_again(start_prometheus: Callable[[str], PrometheusServer]) -> None:
    server = start_prometheus("")
    server.stop()
    assert not server.is_running
    server.start()
    assert _values(server, "vector(1)") == ["1"]


def test_promtool_says_what_is_wrong_with_a_past(tmp_path: Path, promtool_path: Path) -> None:
    (tmp_path / "past.om").write_text("gpu_temperature 61 1767614400\n", "utf-8")
    with pytest.raises(PartError, match=r"did not import .*past.om: .*EOF"):
        import_openmetrics(tmp_path / "past.om", tmp_path / "server")


def test_alertmanager_takes_an_alert(real_alertmanager: AlertmanagerServer, amtool_path: Path) -> None:
    alert = [{"labels": {"alertname": "GpuFellOffBus", "node": "smoke-1"}}]
    _ask(f"{real_alertmanager.url}/api/v2/alerts", alert)
    (seen,) = [
        each
        for each in _ask(f"{real_alertmanager.url}/api/v2/alerts")
        if each["labels"]["alertname"] == "GpuFellOffBus"
    ]
    assert seen["labels"]["node"] == "smoke-1"
    listed = _output(
        amtool_path, "alert", "query", f"--alertmanager.url={real_alertmanager.url}", "-o", "simple"
    )
    assert "GpuFellOffBus" in listed


async def test_elasticsearch_finds_a_document(real_elasticsearch: ElasticsearchServer) -> None:
    async with AsyncElasticsearch(real_elasticsearch.url, request_timeout=30) as client:
        line = {"message": "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."}
        await client.index(index="smoke-logs", document=line, refresh=True)
        found = await client.search(
            index="smoke-logs", query={"match_phrase": {"message": "fallen off the bus"}}
        )
    assert [hit["_source"] for hit in found["hits"]["hits"]] == [line]


async def test_chromium_shows_latin_letters_chinese_signs_and_emoji(
    chromium_path: Path, signs_page: str
) -> None:
    signs = {
        "nothing": "",
        "latin": "N",
        "chinese": "节",
        "emoji": "🔥",
        "a sign without glyph": "\U0010fffd",
    }
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium_path, args=list(CHROMIUM_FLAGS))
        page = await browser.new_page(viewport={"width": 200, "height": 100})
        shots = {}
        for name, sign in signs.items():
            await page.goto(f"{signs_page}?sign={urllib.parse.quote(sign)}")
            shots[name] = await page.screenshot()
        await browser.close()
    # A sign for which no font is here would look like the one that no font has.
    assert len(set(shots.values())) == len(signs)


def test_helm_renders_a_chart(helm_path: Path, tmp_path: Path) -> None:
    _output(helm_path, "create", str(tmp_path / "smoke"))
    rendered = _output(helm_path, "template", "named", str(tmp_path / "smoke"))
    assert "name: named-smoke" in rendered


def test_kubeconform_refuses_what_the_schema_does_not_allow(kubeconform_path: Path, tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"data": {"type": "object"}}}
    (tmp_path / "configmap.json").write_text(json.dumps(schema), "utf-8")
    manifest = tmp_path / "manifest.yaml"
    manifest.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: 3\n", "utf-8")
    schemas = f"-schema-location={tmp_path}/{{{{.ResourceKind}}}}.json"
    with pytest.raises(subprocess.CalledProcessError) as refused:
        _output(kubeconform_path, schemas, str(manifest))
    assert "ConfigMap a is invalid" in refused.value.stdout


@pytest.fixture
async def signs_page() -> AsyncIterator[str]:
    """The address of a page that shows the sign in its query."""

    async def show(request: web.Request) -> web.Response:
        return web.Response(text=_PAGE.format(sign=request.query["sign"]), content_type="text/html")

    application = web.Application()
    application.router.add_get("/", show)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0]
    yield f"http://{host}:{port}/"
    await runner.cleanup()


def _values(server: PrometheusServer, query: str, *, at: datetime | None = None) -> list[str]:
    """The values of an instant query, without their labels."""
    parameters = {"query": query} if at is None else {"query": query, "time": at.isoformat()}
    answer = _ask(f"{server.url}/api/v1/query?{urllib.parse.urlencode(parameters)}")
    return [series["value"][1] for series in answer["data"]["result"]]


def _ask(url: str, body: object = None) -> Any:
    """The JSON that a server answers with, or None for an empty answer."""
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=content, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as reply:
        said = reply.read()
    return json.loads(said) if said else None


def _output(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
