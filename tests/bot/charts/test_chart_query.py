"""The query of a chart, answered by a real Prometheus: the chosen series alone, whatever their labels are."""

from datetime import timedelta

import pytest

from bot.charts.chart_query import chart_query, series_of
from bot.charts.threshold import drawings
from collectors.facts.clock import SystemClock
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.source import PrometheusSource
from tests.real.fixtures import StartPrometheus

ODD = 'say "hi" to $1 \\ é|.*'


def test_the_labels_of_the_rule_choose_nothing() -> None:
    labels = Labels({"alertname": "Hot", "severity": "critical", "node": "a", "a.b": "c"})
    assert series_of(labels, {"severity"}) == Labels({"node": "a"})


def test_an_alert_without_labels_is_drawn_whole() -> None:
    assert chart_query(drawings("sum(heat) > 3")[0], [Labels({})]) == "sum(heat)"


async def test_a_real_prometheus_answers_with_the_chosen_series(start_prometheus: StartPrometheus) -> None:
    now = SystemClock().now().replace(second=0, microsecond=0)
    written = ODD.replace("\\", "\\\\").replace('"', '\\"')
    samples = [
        f'heat{{node="{node}",rack="{written}",gpu="{gpu}"}} {gpu}{minute} {now.timestamp() - 60 * (59 - minute):.0f}'
        for node in ("a", "b")
        for gpu in range(4)
        for minute in range(60)
    ]
    server = start_prometheus(samples=["# TYPE heat gauge", *samples])
    source = PrometheusSource(PrometheusOptions(url=server.url))
    chosen = [Labels({"node": "a", "rack": ODD, "gpu": gpu}) for gpu in "13"]
    query = chart_query(drawings("max by (node, rack, gpu) (heat) > 12")[0], chosen)
    try:
        found = await source.range(
            PromQLQuery(expr=query), start=now - timedelta(hours=1), end=now, step=timedelta(seconds=30)
        )
    finally:
        await source.close()
    assert {one.labels["gpu"] for one in found} == {"1", "3"}
    assert {one.labels["rack"] for one in found} == {ODD}
    assert all(len(one.points) > 100 for one in found)  # also while it was below the threshold


@pytest.mark.parametrize("odd", ["$0", "a\nb", "\t", ""])
def test_a_value_is_one_string(odd: str) -> None:
    query = chart_query(drawings("heat > 1")[0], [Labels({"node": odd, "gpu": "1"})])
    assert "\n" not in query
    assert query.count(chr(34)) % 2 == 0
