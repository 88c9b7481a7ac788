"""Twenty minutes in which nothing happens, on every dialect and both chart styles: no card, and no rule is blind."""

from functools import partial

import pytest

from demo.lookalikes.elasticsearch.lookalike import ElasticsearchLookalike
from demo.parts.prometheus import PrometheusServer
from tests.recorded.shipped_lines import quiet_lines, shipped, source_of
from tests.recorded.table import EPISODES, MINUTE
from tests.support.recorded_loop import rule_loop
from tests.support.recorded_objects import objects_at
from tests.support.scrape_styles import KUBE_PROMETHEUS, PROMETHEUS_COMMUNITY


@pytest.mark.parametrize(
    ("style", "shippers"),
    [(KUBE_PROMETHEUS.name, ("Filebeat",)), (PROMETHEUS_COMMUNITY.name, ("Fluent Bit", "Elastic Agent"))],
    ids=lambda one: one if isinstance(one, str) else " and ".join(one),
)
async def test_twenty_quiet_minutes(
    recordings: PrometheusServer, style: str, shippers: tuple[str, ...]
) -> None:
    cluster = EPISODES[f"quiet, {style}"].cluster
    start = cluster.start + 10 * MINUTE
    async with ElasticsearchLookalike.running() as elastic, source_of(elastic.url) as logs:
        for shipper in shippers:
            await shipped(elastic.url, shipper, quiet_lines(start - 10 * MINUTE, start + 20 * MINUTE))
        objects = partial(objects_at, cluster)
        async with rule_loop(recordings.url, objects, start=start, sources=(logs,)) as loop:
            await loop.run(start + 20 * MINUTE, every=2 * MINUTE)
            assert not await loop.shown()
            assert loop.most_blind == 0
