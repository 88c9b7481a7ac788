"""The source against the real server."""

import asyncio
import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

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


async def test_every_kind_of_value_is_read(real_prometheus: PrometheusServer, source_at: SourceAt) -> None:
    source = source_at(real_prometheus.url)

    async def values(expr: str) -> list[float]:
        said = await source.query(PromQLQuery(expr=expr), at=now())
        assert isinstance(said, Seen), said
        return [sample.value for sample in said.samples]

    assert await values("1 + 1") == [2]
    assert await values("vector(1) / 0") == [math.inf]
    assert math.isnan((await values("vector(0) / 0"))[0])
    assert await values("absent(nothing)") == [1]
    assert await values("nothing") == []


async def test_mistakes_are_told_in_prometheus_own_words(
    real_prometheus: PrometheusServer, source_at: SourceAt
) -> None:
    source = source_at(real_prometheus.url)

    async def why(expr: str) -> str:
        said = await source.query(PromQLQuery(expr=expr), at=now())
        assert isinstance(said, Blind)
        return said.reason

    assert "parse error" in await why("sum(")
    assert "matrix" in await why("up[5m]")
    assert "string" in await why('"words"')


async def test_a_server_that_has_scraped_nothing_is_not_awake(
    real_prometheus: PrometheusServer, source_at: SourceAt
) -> None:
    said = await source_at(real_prometheus.url).health(at=now())
    assert said is not None
    assert "no fresh sample" in said.reason


async def test_a_server_that_scrapes_is_awake_and_shows_targets_series_and_ranges(
    start_prometheus: Callable[[str], PrometheusServer], source_at: SourceAt
) -> None:
    # The port is in the configuration, which is needed before there is a port: it is put in by a reload.
    server = start_prometheus("scrape_configs: []\n")
    await server.reload(SCRAPES_ITSELF.format(port=server.port))
    source = source_at(server.url)
    async with asyncio.timeout(30):
        while await source.health(at=now()) is not None:  # noqa: ASYNC110 - it is another process
            await asyncio.sleep(0.1)
    said = await source.query(PromQLQuery(expr="up", presence="up"), at=now())
    assert isinstance(said, Seen)
    (sample,) = said.samples
    assert (sample.labels["__name__"], sample.labels["job"], sample.value) == ("up", "prometheus", 1)
    assert said.present == (sample.labels,)

    targets = await source.targets(at=now())
    assert not isinstance(targets, Blind)
    assert [(one.job, one.health, one.last_error) for one in targets] == [("prometheus", "up", "")]
    assert targets[0].last_scrape is not None

    start = now() - timedelta(minutes=1)
    found = await source.range("up", start=start, end=now(), step=timedelta(seconds=1))
    assert not isinstance(found, Blind)
    assert [one.labels for one in found] == [sample.labels]
    assert all(start <= at <= now() and value == 1 for at, value in found[0].points)
    assert found[0].points[0][0].tzinfo is UTC

    names = await source.series('up{job="prometheus"}', start=start, end=now())
    assert names == (sample.labels,)
