"""A real Prometheus accepts the queries about idle GPUs."""

from datetime import timedelta

import pytest

from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Seen
from collectors.gpu_activity import ENGINE, MEMORY, UTIL, activity, most, newest, seen
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.source import PrometheusSource
from demo.parts.prometheus import PrometheusServer
from tests.support.yard import NOON


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(most(UTIL, timedelta(minutes=30)), id="maximum"),
        pytest.param(seen(UTIL, timedelta(minutes=30)), id="number of samples"),
        pytest.param(seen(ENGINE, timedelta(minutes=5)), id="number of samples in a short window"),
        pytest.param(seen(ENGINE, timedelta(minutes=7, seconds=1)), id="a window that 30 does not divide"),
        pytest.param(newest(MEMORY), id="memory"),
        pytest.param(activity(timedelta(minutes=30)).expr, id="all in one"),
    ],
)
async def test_the_queries_are_valid(real_prometheus: PrometheusServer, query: str) -> None:
    source = PrometheusSource(PrometheusOptions(url=real_prometheus.url))
    try:
        assert isinstance(await source.query(PromQLQuery(expr=query), at=NOON), Seen)
    finally:
        await source.close()
