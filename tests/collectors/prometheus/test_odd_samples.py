"""A sample that cannot be read is skipped and counted, and does not blind its query."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from alerts.alert import Alert
from alerts.engine import evaluate
from collectors.facts.labels import AlertKey, Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Sample, Seen, SourceError
from collectors.facts.stepwise import result_of
from collectors.sources.prometheus import wire
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.source import PrometheusSource
from tests.support.alerting import CLUSTER, NOON, a_renderer, a_rule, minutes

GOOD = {"metric": {"node": "gpu-a01"}, "value": [1767225600, "91"]}
GOOD_ELSEWHERE = {"metric": {"node": "gpu-b09"}, "value": [1767225600, "91"]}
ODD = [
    pytest.param({"metric": {"node": 7}, "value": [1767225600, "1"]}, id="a label that is no text"),
    pytest.param({"metric": None, "value": [1767225600, "1"]}, id="no labels"),
    pytest.param({"metric": {}, "value": ["NaN", "1"]}, id="a time that is no number"),
    pytest.param({"metric": {}, "value": [1767225600, 1]}, id="a value that is no text"),
    pytest.param({"metric": {}, "value": [1767225600, "a lot"]}, id="a value in words"),
    pytest.param({"metric": {}, "value": [1767225600]}, id="half a pair"),
    pytest.param({"metric": {}, "value": "91"}, id="no pair"),
    pytest.param([], id="a list"),
    pytest.param(None, id="null"),
]


def body(*elements: Any) -> bytes:
    answer = {"status": "success", "data": {"resultType": "vector", "result": elements}}
    return json.dumps(answer).encode()


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_sample_is_skipped_and_counted(odd: Any) -> None:
    skipped: list[str] = []
    (batch,) = wire.instant(
        body(GOOD, odd, GOOD), cap=10, skip=lambda reason, _labels: skipped.append(reason)
    )
    assert batch == (Sample(labels=Labels({"node": "gpu-a01"}), value=91.0),) * 2
    (reason,) = skipped
    assert "a lot" not in reason


def test_nothing_but_odd_samples_is_an_error() -> None:
    with pytest.raises(SourceError, match="none of the 2 samples can be read"):
        list(wire.instant(body(None, []), cap=10, skip=lambda _reason, _labels: None))


def test_odd_samples_of_one_batch_alone_are_skipped() -> None:
    skipped: list[str] = []
    elements = [None] * wire.BATCH + [GOOD]
    batches = list(
        wire.instant(body(*elements), cap=10_000, skip=lambda reason, _labels: skipped.append(reason))
    )
    assert [len(batch) for batch in batches] == [0, 1]
    assert len(skipped) == wire.BATCH


@pytest.mark.parametrize(
    ("odd", "labels"),
    [
        pytest.param({"metric": {"node": "a", "gpu": "0"}, "value": [1, "a lot"]}, {"node": "a", "gpu": "0"}),
        pytest.param({"metric": {"node": "a", "gpu": 0}, "value": [1, "1"]}, {"node": "a"}),
        pytest.param({"metric": {"node": "a"}, "value": "1"}, {"node": "a"}),
        pytest.param({"metric": ["node"], "value": [1, "1"]}, {}),
        pytest.param({}, {}),
        pytest.param(None, {}),
    ],
)
def test_the_labels_of_an_odd_sample_are_read_as_far_as_they_can_be(odd: Any, labels: dict[str, str]) -> None:
    found: list[Labels] = []
    list(wire.instant(body(GOOD, odd), cap=10, skip=lambda _reason, labels: found.append(labels)))
    assert found == [labels]


@pytest.fixture
async def answers() -> AsyncIterator[tuple[list[bytes], PrometheusSource]]:
    """The responses to the next queries, and a source that gets them."""
    bodies: list[bytes] = []

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(body=bodies.pop(0), content_type="application/json")

    app = web.Application()
    app.router.add_post("/api/v1/query", answer)
    async with TestServer(app) as server:
        source = PrometheusSource(PrometheusOptions(url=str(server.make_url("/")), concurrency=1))
        yield bodies, source
        await source.close()


async def test_an_alert_does_not_end_because_its_sample_cannot_be_read(
    answers: tuple[list[bytes], PrometheusSource],
) -> None:
    bodies, source = answers
    hot, cool = ({"metric": {"node": f"gpu-a0{number}"}, "value": [1767225600, "91"]} for number in (1, 2))
    odd = {**hot, "value": [1767225600, "a lot"]}
    bodies += [body(hot, cool), body(odd, GOOD_ELSEWHERE), body(GOOD_ELSEWHERE)]
    rule, nodes = a_rule(), []
    alerts: Mapping[AlertKey, Alert] = {}
    for number in range(3):
        result = await source.query(PromQLQuery(expr="heat"), at=NOON)
        now = NOON + minutes(number)
        evaluation = result_of(
            evaluate(rule, alerts, result, cluster=CLUSTER, renderer=a_renderer(), now=now)
        )
        alerts = evaluation.alerts
        nodes.append({alert.labels["node"] for alert in alerts.values()})
    assert nodes == [{"gpu-a01", "gpu-a02"}, {"gpu-a01", "gpu-b09"}, {"gpu-b09"}]


async def test_with_very_many_odd_samples_each_alert_may_be_one_of_them(
    answers: tuple[list[bytes], PrometheusSource],
) -> None:
    bodies, source = answers
    odd = [{"metric": {"node": f"n{number}"}, "value": [1, "a lot"]} for number in range(3_000)]
    bodies.append(body(GOOD, *odd))
    result = await source.query(PromQLQuery(expr="heat"), at=NOON)
    assert isinstance(result, Seen)
    assert len(result.unread) < 200
    assert Labels() in result.unread
