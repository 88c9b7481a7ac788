"""Twenty minutes in which nothing happens, on every dialect and both chart styles: no card, and no rule is blind.

A rule that waits for two minutes or longer, or counts the lines of so long, is seen in cycles two minutes apart. The
others are evaluated every 15 s, as they always are; in `make soak` all are.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from functools import partial

import pytest

from collectors.facts.queries import LogQuery
from demo.lookalikes.elasticsearch.lookalike import ElasticsearchLookalike
from demo.parts.prometheus import PrometheusServer
from tests.recorded.shipped_lines import quiet_lines, shipped, source_of
from tests.recorded.table import EPISODES, MINUTE
from tests.support.recorded_loop import RULES, RuleLoop, rule_loop
from tests.support.recorded_objects import objects_at
from tests.support.scrape_styles import KUBE_PROMETHEUS, PROMETHEUS_COMMUNITY

CYCLE = timedelta(seconds=15)
FAR = 2 * MINUTE
LASTS = 20 * MINUTE
QUICK = tuple(
    name for name, rule in RULES.items() if rule.timing.for_ < FAR and not isinstance(rule.query, LogQuery)
)
each_chart = pytest.mark.parametrize(
    ("style", "shippers"),
    [(KUBE_PROMETHEUS.name, ("Filebeat",)), (PROMETHEUS_COMMUNITY.name, ("Fluent Bit", "Elastic Agent"))],
    ids=lambda one: one if isinstance(one, str) else " and ".join(one),
)


@asynccontextmanager
async def quiet_loop(
    recordings: PrometheusServer, style: str, shippers: Sequence[str], rules: Sequence[str] = ()
) -> AsyncIterator[tuple[RuleLoop, datetime]]:
    """The loop, and when its twenty minutes are over."""
    cluster = EPISODES[f"quiet, {style}"].cluster
    start = cluster.start + 10 * MINUTE
    async with ElasticsearchLookalike.running() as elastic, source_of(elastic.url) as logs:
        for shipper in shippers:
            await shipped(elastic.url, shipper, quiet_lines(start - 10 * MINUTE, start + LASTS))
        objects = partial(objects_at, cluster)
        async with rule_loop(recordings.url, objects, start=start, rules=rules, sources=(logs,)) as loop:
            yield loop, start + LASTS


async def stays_quiet(
    recordings: PrometheusServer,
    style: str,
    shippers: Sequence[str],
    *,
    every: timedelta,
    rules: Sequence[str] = (),
) -> None:
    async with quiet_loop(recordings, style, shippers, rules) as (loop, end):
        await loop.run(end, every=every)
        assert not await loop.shown()
        assert loop.most_blind == 0


@each_chart
async def test_twenty_quiet_minutes(
    recordings: PrometheusServer, style: str, shippers: tuple[str, ...]
) -> None:
    await stays_quiet(recordings, style, shippers, every=FAR)


@each_chart
async def test_twenty_quiet_minutes_of_rules_that_fire_quickly(
    recordings: PrometheusServer, style: str, shippers: tuple[str, ...]
) -> None:
    await stays_quiet(recordings, style, shippers, every=CYCLE, rules=QUICK)


@each_chart
@pytest.mark.soak(only=True)  # it takes minutes
async def test_twenty_quiet_minutes_of_all_rules_in_each_cycle(
    recordings: PrometheusServer, style: str, shippers: tuple[str, ...]
) -> None:
    await stays_quiet(recordings, style, shippers, every=CYCLE)
