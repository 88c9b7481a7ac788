"""Dialects of dcgm-exporter that no chart has: the same card for a hot GPU and an XID in each of them."""

from functools import partial

import pytest

from alerts.rules import Severity
from collectors.facts.queries import LogQuery
from demo.parts.prometheus import PrometheusServer
from tests.recorded.foreign_gpus import FOREIGN, ForeignDialect
from tests.recorded.table import EPISODES, MINUTE
from tests.support.recorded_loop import RULES as SHIPPED
from tests.support.recorded_loop import rule_loop
from tests.support.recorded_objects import OWNER, objects_at

ABOUT_GPUS = tuple(
    name for name, rule in SHIPPED.items() if "GPU" in name and not isinstance(rule.query, LogQuery)
)
RULES = ("GPUTemperatureHigh", "GPUXIDError", "GPUXIDChanged", "GPUMetricsLost", "GPUMetricsMissing")


@pytest.mark.parametrize("dialect", FOREIGN, ids=lambda one: one.name)
async def test_a_hot_gpu_that_then_reports_an_xid(
    recordings: PrometheusServer, dialect: ForeignDialect
) -> None:
    one = EPISODES[f"foreign, {dialect.name}"]
    hot, xid, _ = (node.name for node in dialect.nodes())
    objects = partial(objects_at, one.cluster)
    async with rule_loop(recordings.url, objects, start=one.begins - 2 * MINUTE, rules=RULES) as loop:
        await loop.run(one.begins + 2 * MINUTE)
        assert {incident.subject.node for incident in await loop.incidents()} == {xid}
        await loop.run(one.begins + 7 * MINUTE)
        assert loop.most_blind == 0
        found = {incident.subject.node: incident for incident in await loop.incidents()}
        cards = await loop.shown()
        assert set(found) == {hot, xid}
        assert len(cards) == 2, "one card for each node"
        assert found[xid].severity is Severity.CRITICAL
        for node, words in ((hot, "95 °C"), (xid, "XID 79")):
            card = cards[found[node].id]
            assert node in card.splitlines()[0]
            assert "GPU 0" in card
            assert words in card
            assert f"node cordon {node}" in card
            assert (f"train-{node}" in card, OWNER in card) == (True, True)
        await loop.run(one.fixed + 5 * MINUTE)
        assert {incident.subject.node for incident in await loop.incidents(is_open=True)} <= {xid}


@pytest.mark.parametrize("dialect", FOREIGN, ids=lambda one: one.name)
async def test_while_nothing_happens_nothing_is_said(
    recordings: PrometheusServer, dialect: ForeignDialect
) -> None:
    one = EPISODES[f"foreign, {dialect.name}"]
    objects = partial(objects_at, one.cluster)
    start = one.cluster.start + MINUTE
    async with rule_loop(recordings.url, objects, start=start, rules=ABOUT_GPUS) as loop:
        await loop.run(one.begins - MINUTE / 2, every=2 * MINUTE)
        assert not await loop.shown()
        assert loop.most_blind == 0
