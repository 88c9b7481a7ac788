"""This file asks a real Prometheus the questions about idle GPUs: they are valid, and mean what they should."""

from datetime import timedelta

import pytest

from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Seen
from collectors.sources.prometheus.source import PrometheusOptions, PrometheusSource
from commands.gpu.idle_detection import ENGINE, MEMORY, UTIL, most, now_, seen
from demo.parts.prometheus import PrometheusServer
from tests.support.yard import NOON


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(most(UTIL, timedelta(minutes=30)), id="the most"),
        pytest.param(seen(UTIL, timedelta(minutes=30)), id="how often"),
        pytest.param(seen(ENGINE, timedelta(minutes=5)), id="how often in a short window"),
        pytest.param(seen(ENGINE, timedelta(minutes=7, seconds=1)), id="a window that 30 does not divide"),
        pytest.param(now_(MEMORY), id="memory"),
    ],
)
async def test_the_questions_are_valid(real_prometheus: PrometheusServer, query: str) -> None:
    source = PrometheusSource(PrometheusOptions(url=real_prometheus.url))
    try:
        assert isinstance(await source.query(PromQLQuery(expr=query), at=NOON), Seen)
    finally:
        await source.close()
