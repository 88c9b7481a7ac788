"""A kernel that logs one fault 100,000 times in five minutes: few lines are read, and people get one card."""

import json
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from aiohttp import web

from alerts.cards.posted import PostedCard
from alerts.incidents.incident import Incident
from alerts.incidents.proofs import NO_FACTS
from alerts.routing import CardRouting
from bot.evaluation.recorder import IncidentRecorder
from bot.evaluation.rulebook import read_rulebook
from bot.evaluation.scheduler import RuleScheduler
from bot.settings.schema import RulesSettings
from collectors.sources.elasticsearch.options import ElasticsearchOptions
from collectors.sources.elasticsearch.source import ElasticsearchSource
from tests.collectors.elasticsearch.test_unexpected_responses import CAPS, HEADERS, serving
from tests.support.alerting import CLUSTER, NOON, a_renderer, a_topology
from tests.support.memory_store import MemoryStore
from tests.support.routing import a_router

LINES = 100_000
RULES = tuple(rule for rule in read_rulebook(RulesSettings()).rules if rule.name == "GPUXIDLogged")
COMPLETE = {"timed_out": False, "_shards": {"total": 1, "successful": 1, "failed": 0}}
XID = "NVRM: Xid (PCI:0000:{pci}:00): {xid}, pid=1, GPU has fallen off the bus."


@dataclass
class KernelLog:
    """An Elasticsearch whose newest lines are of one fault, each from the journal and from a file.

    `pulled` and `sent` count the documents and the bytes that it was asked for.
    """

    lines: dict[str, int]  # by node
    pulled: int = 0
    sent: int = 0
    searches: list[dict[str, Any]] = field(default_factory=list)

    def hits(self, size: int, node: str) -> dict[str, Any]:
        found = []
        for number in range(min(size, self.lines[node])):
            at = (NOON - timedelta(milliseconds=3 * number)).isoformat()
            text = XID.format(pci="b3", xid=79) if node == "gpu-a01" else XID.format(pci="1a", xid=48)
            way = {"log.file.path": ["/var/log/messages"]} if number % 2 else {}
            fields = {"@timestamp": [at], "message": [f"[ {number}.0] {text}"], "host.name": [node], **way}
            found.append({"fields": fields, "sort": [number]})
        self.pulled += len(found)
        return {"hits": found}

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body: dict[str, Any] = {
            **COMPLETE,
            "hits": {"total": {"value": sum(self.lines.values())}, "hits": []},
        }
        if "_field_caps" in request.path:
            body = CAPS
        elif "_pit" in request.path:
            body = {"id": "pit"}
        elif "_msearch" in request.path:  # counts of other fields
            nothing = {**COMPLETE, "hits": {"total": {"value": 0}}}
            body = {"responses": [nothing] * (len((await request.text()).splitlines()) // 2)}
        elif "_search" in request.path:
            asked = json.loads(await request.text())
            self.searches.append(asked)
            body["hits"] |= self.hits(asked.get("size", 10), "gpu-a01")
            groups = asked.get("aggs", {}).get("groups", {})
            if "composite" in groups:
                counts = [{"key": {"0": node}, "doc_count": count} for node, count in self.lines.items()]
                body["aggregations"] = {"groups": {"buckets": counts}}
            elif "filters" in groups:
                body["aggregations"] = {"groups": {"buckets": self._newest(groups)}}
        answer = json.dumps(body).encode()
        self.sent += len(answer)
        return web.Response(body=answer, headers=HEADERS)

    def _newest(self, groups: dict[str, Any]) -> dict[str, Any]:
        size = groups["aggs"]["newest"]["top_hits"]["size"]
        return {
            name: {"doc_count": 1, "newest": {"hits": self.hits(size, node)}}
            for name, one in groups["filters"]["filters"].items()
            for node in self.lines
            if node in json.dumps(one)
        }


@asynccontextmanager
async def evaluated(log: KernelLog) -> AsyncIterator[tuple[RuleScheduler, MemoryStore]]:
    """Evaluate the shipped rule over kernel lines until the block ends, once each 15 s."""
    store = MemoryStore()
    async with serving(log.answer) as url:
        options = ElasticsearchOptions(urls=(url,), lag=timedelta(), stale_after=timedelta())
        async with ElasticsearchSource(options) as source:
            scheduler = RuleScheduler(CLUSTER, RULES, a_router(source), a_renderer())
            recorder = IncidentRecorder(CLUSTER, store, CardRouting(default="C1"))
            for number in range(3):
                cycle = await scheduler.run_cycle(NOON + number * timedelta(seconds=15))
                assert not cycle.blind
                await recorder.record(cycle.batch(NO_FACTS), rules=scheduler.rules, topology=a_topology())
            yield scheduler, store


async def test_few_lines_of_a_burst_are_read_and_it_is_one_card() -> None:
    log = KernelLog({"gpu-a01": LINES})
    tracemalloc.start()
    try:
        async with evaluated(log) as (_, store), store.unit() as unit:
            _, peak = tracemalloc.get_traced_memory()
            (incident,) = await unit.rows(Incident).find()
            (card,) = await unit.rows(PostedCard).find()
    finally:
        tracemalloc.stop()
    assert [member.name for member in incident.members] == ["GPUXIDLogged"]
    assert card.row_id == incident.id
    assert log.pulled <= 3 * 100  # in three cycles
    assert peak < 8 << 20, peak


async def test_what_is_read_does_not_grow_with_the_burst() -> None:
    small, large = KernelLog({"gpu-a01": LINES}), KernelLog({"gpu-a01": LINES * 100})
    for log in (small, large):
        async with evaluated(log):
            pass
    assert large.pulled == small.pulled
    assert large.sent <= small.sent + 100 * len(large.searches)


async def test_a_burst_on_one_node_does_not_hide_the_line_of_another() -> None:
    log = KernelLog({"gpu-a01": LINES, "gpu-a02": 1})
    async with evaluated(log) as (_, store), store.unit() as unit:
        incidents = await unit.rows(Incident).find()
    assert {one.subject.node for one in incidents} == {"gpu-a01", "gpu-a02"}
