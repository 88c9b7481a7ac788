"""The source against a real Prometheus."""

import asyncio
import math
from collections.abc import Callable
from datetime import datetime

from collectors.facts.clock import SystemClock
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, Seen
from collectors.sources.prometheus.source import PrometheusSource
from demo.parts.prometheus import PrometheusServer

SourceAt = Callable[..., PrometheusSource]
SCRAPES_ITSELF = """
global: {{scrape_interval: 1s}}
scrape_configs:
  - job_name: prometheus
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


def now() -> datetime:
    return SystemClock().now()


async def test_every_kind_of_value_is_decoded(real_prometheus: PrometheusServer, source_at: SourceAt) -> None:
    source = source_at(real_prometheus.url)

    async def values(expr: str) -> list[float]:
        result = await source.query(PromQLQuery(expr=expr), at=now())
        assert isinstance(result, Seen), result
        return [sample.value for sample in result.samples]

    assert await values("1 + 1") == [2]
    assert await values("vector(1) / 0") == [math.inf]
    assert math.isnan((await values("vector(0) / 0"))[0])
    assert await values("absent(nothing)") == [1]
    assert await values("nothing") == []


async def test_errors_have_the_message_of_prometheus(
    real_prometheus: PrometheusServer, source_at: SourceAt
) -> None:
    source = source_at(real_prometheus.url)

    async def reason(expr: str) -> str:
        result = await source.query(PromQLQuery(expr=expr), at=now())
        assert isinstance(result, Blind)
        return result.reason

    assert "parse error" in await reason("sum(")
    assert "matrix" in await reason("up[5m]")
    assert "string" in await reason('"words"')


async def test_a_server_without_scrapes_is_not_healthy(
    real_prometheus: PrometheusServer, source_at: SourceAt
) -> None:
    result = await source_at(real_prometheus.url).health(at=now())
    assert result is not None
    assert "no fresh sample" in result.reason


async def test_a_server_with_scrapes_is_healthy_and_returns_its_series(
    start_prometheus: Callable[[str], PrometheusServer], source_at: SourceAt
) -> None:
    # The configuration needs the port, which is known only after the start: a reload adds it.
    server = start_prometheus("scrape_configs: []\n")
    await server.reload(SCRAPES_ITSELF.format(port=server.port))
    source = source_at(server.url)
    async with asyncio.timeout(30):
        while await source.health(at=now()) is not None:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.1)
    result = await source.query(PromQLQuery(expr="up", presence="up"), at=now())
    assert isinstance(result, Seen)
    (sample,) = result.samples
    assert (sample.labels["__name__"], sample.labels["job"], sample.value) == ("up", "prometheus", 1)
    assert result.present == (sample.labels,)
