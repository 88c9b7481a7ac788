"""A presence query that several rules have in common is sent once for a moment."""

import asyncio
from collections import Counter
from datetime import datetime
from weakref import ref

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import QueryResult, Sample, Seen
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.shared_queries import LabelPool, SharedQueries
from collectors.sources.prometheus.source import PrometheusSource
from tests.support.alerting import NOON, minutes

PRESENT = "max by (node) (heat)"


async def test_the_rules_of_a_cycle_send_their_common_presence_query_once() -> None:
    sent: Counter[str] = Counter()

    async def answer(request: web.Request) -> web.Response:
        form = await request.post()
        sent[str(form["query"])] += 1
        sample = {"metric": {"node": "gpu-a01"}, "value": [1, "1"]}
        return web.json_response({"status": "success", "data": {"resultType": "vector", "result": [sample]}})

    app = web.Application()
    app.router.add_post("/api/v1/query", answer)
    async with TestServer(app) as server:
        source = PrometheusSource(PrometheusOptions(url=str(server.make_url("/")), concurrency=2))
        for cycle in range(2):
            rules = [PromQLQuery(expr=f"heat > {limit}", presence=PRESENT) for limit in range(5)]
            at = NOON + minutes(cycle)
            first = await source.query(rules[0], at=at)  # it has ended when the others ask
            results = [first, *await asyncio.gather(*(source.query(rule, at=at) for rule in rules[1:]))]
            assert all(
                isinstance(one, Seen) and one.present == (Labels({"node": "gpu-a01"}),) for one in results
            )
            assert (sent[PRESENT], sent["heat > 3"]) == (cycle + 1, cycle + 1)
        await source.close()


@pytest.mark.looptime
async def test_a_cancelled_reader_takes_no_result_from_the_others() -> None:
    sent: list[datetime] = []

    async def send(_expr: str, at: datetime) -> QueryResult:
        sent.append(at)
        await asyncio.sleep(5)
        return Seen(source="prometheus", at=at, samples=())

    shared = SharedQueries(send)
    async with asyncio.TaskGroup() as group:
        first, second = (group.create_task(shared.query(PRESENT, NOON)) for _ in range(2))
        await asyncio.sleep(1)
        first.cancel()
    assert second.result() == Seen(source="prometheus", at=NOON, samples=())
    assert sent == [NOON, NOON]


def test_equal_labels_are_one_object_at_a_moment_and_at_the_next() -> None:
    pool = LabelPool()
    first = pool.shared(Labels({"node": "a"}), NOON)
    assert pool.shared(Labels({"node": "a"}), NOON) is first
    assert pool.shared(Labels({"node": "b"}), NOON) == Labels({"node": "b"})
    assert pool.shared(Labels({"node": "a"}), NOON + minutes(1)) is first
    assert pool.shared(Labels({"node": "b"}), NOON + minutes(2)) == Labels({"node": "b"})
    none = pool.shared(Labels(), NOON + minutes(2))
    assert pool.shared(Labels(), NOON + minutes(3)) is none


async def test_a_query_that_is_not_asked_any_more_is_forgotten() -> None:
    async def send(_expr: str, at: datetime) -> QueryResult:
        return Seen(source="prometheus", at=at, samples=(Result(),))

    class Result(Sample):
        """A sample that can be watched."""

        __slots__ = ("__weakref__",)

        def __init__(self) -> None:
            super().__init__(labels=Labels(), value=1)

    shared = SharedQueries[str](send)
    found = await shared.query("old", NOON)
    assert isinstance(found, Seen)
    kept = ref(found.samples[0])
    del found
    for minute in range(1, 4):
        await shared.query("new", NOON + minutes(minute))
    assert kept() is None


def test_labels_of_different_series_hold_the_same_pairs() -> None:
    pool = LabelPool()
    node = pool.shared(Labels({"Hostname": "gpu-a01"}), NOON)
    gpu = pool.shared(Labels({"Hostname": "gpu-a01", "gpu": "3"}), NOON)

    assert gpu == Labels({"Hostname": "gpu-a01", "gpu": "3"})
    assert gpu.pairs[0] is node.pairs[0]
