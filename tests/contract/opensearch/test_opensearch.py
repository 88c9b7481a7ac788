"""A second log store, a real OpenSearch: it answers shipped rules through the port, as Elasticsearch does."""

import itertools
import json
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from typing import Any

import aiohttp
import pytest

from alerts.rules import Rule
from collectors.facts.queries import LogQuery
from collectors.facts.results import Blind, Seen
from collectors.sources.source_port import LogReader
from demo.world.layout import demo_layout
from demo.world.logs.line import document
from demo.world.logs.shipper import TEMPLATE, bulk
from demo.world.state import initial_state
from tests.alerts.packs.case_outcome import expected, outcome
from tests.alerts.packs.log_case import LogCase, LogEvent
from tests.alerts.packs.log_cases import LOG_CASES
from tests.alerts.packs.shipped import shipped_rules
from tests.contract.opensearch.opensearch_source import OpenSearchSource
from tests.real.servers.opensearch import OpenSearchServer
from tests.support.examples import by_profile
from tests.support.log_matches import query_string
from tests.support.objects import NOW
from tests.support.routing import a_router

# One rule of each way to count: read by an expression, counted with and without a minimum, new patterns.
ANSWERED = frozenset(
    {"GPUXIDLogged", "GPUFellOffBusLogged", "NodeTasksHung", "NodeFilesystemReadOnlyLogged", "NeverSeenError"}
)
RULES: Mapping[str, Rule] = {
    name: rule for name, rule in shipped_rules().items() if isinstance(rule.query, LogQuery)
}
CASES = [case for case in LOG_CASES if case.rule in by_profile(ANSWERED, RULES.keys())]
_numbers = itertools.count(1)


class Lines:
    """An index of one test, and a source to it."""

    def __init__(self, url: str, source: OpenSearchSource, index: str) -> None:
        self.source = source
        self._url = url
        self._index = index

    async def ship(self, *events: LogEvent) -> None:
        state = initial_state(demo_layout(), NOW)
        daily = [LogEvent(what="kubelet-start", ago=60 + day * 86_400) for day in range(8)]
        lines = [line for one in (*daily, *events) for line in one.lines(state)]
        documents = [made for line in lines if (made := document(line, state))]
        async with aiohttp.ClientSession(self._url) as session:
            await self._call(session, "PUT", f"/{self._index}", json.dumps(TEMPLATE["template"]).encode())
            await self._call(session, "POST", "/_bulk?refresh=true", bulk(documents, self._index))

    async def _call(self, session: aiohttp.ClientSession, method: str, path: str, body: bytes) -> None:
        kind = "application/x-ndjson" if "_bulk" in path else "application/json"
        async with session.request(method, path, data=body, headers={"Content-Type": kind}) as reply:
            answered: Any = await reply.json()
            assert reply.status < 300, answered
            assert not answered.get("errors"), answered


@pytest.fixture
async def lines(real_opensearch: OpenSearchServer) -> AsyncIterator[Lines]:
    index = f"logs-{next(_numbers)}"
    source = OpenSearchSource(real_opensearch.url, index)
    yield Lines(real_opensearch.url, source, index)
    await source.close()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}: {case.description}")
async def test_a_shipped_rule_fires_exactly_its_alerts(case: LogCase, lines: Lines) -> None:
    rule = RULES[case.rule]
    await lines.ship(*case.events)

    seen = await a_router(lines.source).query(rule.query, at=NOW)

    assert isinstance(seen, Seen), seen
    assert outcome(rule, seen) == expected(case)


def test_both_kinds_of_cases_are_answered() -> None:
    assert {case.rule for case in CASES} >= ANSWERED
    assert {bool(case.fired) for case in CASES} == {True, False}


async def test_a_rule_in_the_syntax_of_elasticsearch_is_blind(lines: Lines) -> None:
    await lines.ship()
    query = LogQuery(store_match=query_string("message:x*"), by=("node",), over=timedelta(minutes=5))

    blind = await lines.source.query(query, at=NOW)

    assert isinstance(blind, Blind)
    assert blind.reason.startswith("the rule searches by `elasticsearch:`")


async def test_its_lines_are_read_in_pages(lines: Lines) -> None:
    assert isinstance(lines.source, LogReader)
    await lines.ship(*(LogEvent(text=f"line {number}", unit="kubelet", ago=10) for number in range(7)))
    texts: list[str] = []
    after = ""
    for _ in range(10):
        page = await lines.source.page(
            where={"component": "kubelet"}, since=NOW - timedelta(seconds=30), until=NOW, size=3, after=after
        )
        texts += [line.text for line in page.lines]
        if not (after := page.after):
            break

    assert sorted(texts) == [f"line {number}" for number in range(7)]
