"""Each real part starts and does what other tests need."""

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

from demo.parts.processes import PartError
from demo.parts.prometheus import PrometheusServer, import_openmetrics
from tests.real.servers.alertmanager import AlertmanagerServer
from tests.real.servers.browser import chromium
from tests.real.servers.elasticsearch import ElasticsearchServer

_SELF_SCRAPE = """\
global: {{scrape_interval: 1s}}
scrape_configs: [{{job_name: {job}, static_configs: [{{targets: ["127.0.0.1:{port}"]}}]}}]
"""

_PAGE = """\
<!doctype html><meta charset="utf-8">
<p style="font:40px sans-serif">{character}</p>
"""


async def test_prometheus_returns_what_it_scraped(
    start_prometheus: Callable[[str], PrometheusServer],
) -> None:
    server = start_prometheus("global: {scrape_interval: 1s}\n")
    await server.reload(_SELF_SCRAPE.format(job="itself", port=server.port))
    async with asyncio.timeout(30):
        while True:
            found = await asyncio.to_thread(_values, server, 'up{job="itself"}')
            if found:
                break
            await asyncio.sleep(0.1)
    assert found == ["1"]


def test_prometheus_returns_imported_samples(tmp_path: Path, promtool_path: Path) -> None:
    past = datetime(2026, 1, 5, 12, tzinfo=UTC)
    samples = tmp_path / "past.om"
    samples.write_text(
        f'# TYPE gpu_temperature gauge\ngpu_temperature{{gpu="0"}} 61 {past.timestamp():.0f}\n# EOF\n',
        "utf-8",
    )
    import_openmetrics(samples, tmp_path / "server")
    with PrometheusServer(config="", folder=tmp_path / "server", retention=timedelta(days=7)) as server:
        assert _values(server, "gpu_temperature", at=past) == ["61"]


async def test_prometheus_keeps_its_configuration_if_it_rejects_the_new_one(
    start_prometheus: Callable[[str], PrometheusServer],
) -> None:
    server = start_prometheus("global: {scrape_interval: 1s}\n")
    with pytest.raises(PartError, match=r"rejected the configuration .*prometheus.yml(.|\n)*scrape_often"):
        await server.reload("global: {scrape_often: 1s}\n")
    assert "scrape_interval: 1s" in _call(f"{server.url}/api/v1/status/config")["data"]["yaml"]


async def test_a_prometheus_that_cannot_start_reports_the_reason(promtool_path: Path, tmp_path: Path) -> None:
    with pytest.raises(PartError, match=r"Prometheus ended with status 2(.|\n)*scrape_often"):
        async with PrometheusServer(config="global: {scrape_often: 1s}\n", folder=tmp_path):
            pass


def test_prometheus_can_be_restarted(start_prometheus: Callable[[str], PrometheusServer]) -> None:
    server = start_prometheus("")
    server.stop()
    assert not server.is_running
    server.start()
    assert _values(server, "vector(1)") == ["1"]


def test_promtool_reports_invalid_samples(tmp_path: Path, promtool_path: Path) -> None:
    (tmp_path / "past.om").write_text("gpu_temperature 61 1767614400\n", "utf-8")
    with pytest.raises(PartError, match=r"did not import .*past.om: .*EOF"):
        import_openmetrics(tmp_path / "past.om", tmp_path / "server")


def test_alertmanager_accepts_an_alert(real_alertmanager: AlertmanagerServer, amtool_path: Path) -> None:
    alert = [{"labels": {"alertname": "GpuFellOffBus", "node": "smoke-1"}}]
    _call(f"{real_alertmanager.url}/api/v2/alerts", alert)
    (seen,) = [
        each
        for each in _call(f"{real_alertmanager.url}/api/v2/alerts")
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


async def test_chromium_renders_latin_chinese_and_emoji(chromium_path: Path, characters_page: str) -> None:
    characters = {
        "nothing": "",
        "latin": "N",
        "chinese": "节",
        "emoji": "🔥",
        "a character without a glyph": "\U0010fffd",
    }
    async with chromium(chromium_path) as browser:
        page = await browser.new_page(viewport={"width": 200, "height": 100})
        shots = {}
        for name, character in characters.items():
            await page.goto(f"{characters_page}?character={urllib.parse.quote(character)}")
            shots[name] = await page.screenshot()
    # A character without an installed font would look like the one that no font has.
    assert len(set(shots.values())) == len(characters)


def test_helm_renders_a_chart(helm_path: Path, tmp_path: Path) -> None:
    _output(helm_path, "create", str(tmp_path / "smoke"))
    rendered = _output(helm_path, "template", "named", str(tmp_path / "smoke"))
    assert "name: named-smoke" in rendered


def test_kubeconform_rejects_what_the_schema_does_not_allow(kubeconform_path: Path, tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"data": {"type": "object"}}}
    (tmp_path / "configmap.json").write_text(json.dumps(schema), "utf-8")
    manifest = tmp_path / "manifest.yaml"
    manifest.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: 3\n", "utf-8")
    schemas = f"-schema-location={tmp_path}/{{{{.ResourceKind}}}}.json"
    with pytest.raises(subprocess.CalledProcessError) as refused:
        _output(kubeconform_path, schemas, str(manifest))
    assert "ConfigMap a is invalid" in refused.value.stdout


@pytest.fixture
async def characters_page() -> AsyncIterator[str]:
    """The URL of a page that shows the character in its query."""

    async def show(request: web.Request) -> web.Response:
        return web.Response(text=_PAGE.format(character=request.query["character"]), content_type="text/html")

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
    """Return the values of an instant query, without their labels."""
    parameters = {"query": query} if at is None else {"query": query, "time": at.isoformat()}
    answer = _call(f"{server.url}/api/v1/query?{urllib.parse.urlencode(parameters)}")
    return [series["value"][1] for series in answer["data"]["result"]]


def _call(url: str, body: object = None) -> Any:
    """Return the JSON response of a server, or None for an empty response."""
    sent = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=sent, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as reply:
        content = reply.read()
    return json.loads(content) if content else None


def _output(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
