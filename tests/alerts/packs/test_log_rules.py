"""The shipped log rules on lines that the demo's components write, in a look-alike of Elasticsearch."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta

import aiohttp
import pytest

from collectors.facts.queries import LogQuery
from collectors.facts.results import Blind, Seen
from collectors.sources.elasticsearch import ElasticsearchOptions, ElasticsearchSource
from demo.lookalikes.elasticsearch.lookalike import ElasticsearchLookalike
from demo.world.layout import demo_layout
from demo.world.logs.line import Document, document
from demo.world.logs.shipper import INDEX, TEMPLATE, bulk
from demo.world.state import State, initial_state
from tests.alerts.packs.evaluated import fired, once
from tests.alerts.packs.log_case import LogCase, LogEvent
from tests.alerts.packs.log_cases import LOG_CASES
from tests.alerts.packs.shipped import shipped_rules
from tests.support.objects import NOW

RULES = {name: rule for name, rule in shipped_rules().items() if isinstance(rule.query, LogQuery)}


class Logs:
    """A look-alike with the demo's index template, and a source to it."""

    def __init__(self, es: ElasticsearchLookalike, source: ElasticsearchSource) -> None:
        self.es = es
        self.source = source
        self._state: State = initial_state(demo_layout(), NOW)

    async def ship(self, *events: LogEvent) -> None:
        """Ship these events, and one line for each day before, so that no day is without logs."""
        daily = [LogEvent(what="kubelet-start", ago=60 + day * 86_400) for day in range(8)]
        lines = [line for one in (*daily, *events) for line in one.lines(self._state)]
        documents: list[Document] = [made for line in lines if (made := document(line, self._state))]
        assert len(documents) == len(lines)
        async with aiohttp.ClientSession() as session:
            await self._call(session, "PUT", "_index_template/logs-k8s", json.dumps(TEMPLATE).encode())
            await self._call(session, "POST", "_bulk", bulk(documents, INDEX))

    async def _call(self, session: aiohttp.ClientSession, method: str, path: str, body: bytes) -> None:
        kind = "application/x-ndjson" if path == "_bulk" else "application/json"
        async with session.request(
            method, f"{self.es.url}/{path}", data=body, headers={"Content-Type": kind}
        ) as reply:
            assert reply.status < 300, await reply.text()
            assert not (await reply.json()).get("errors")


@pytest.fixture
async def logs() -> AsyncIterator[Logs]:
    async with ElasticsearchLookalike.running() as es:
        settings = ElasticsearchOptions(
            urls=(es.url,), index="logs-*", lag=timedelta(), timeout=timedelta(seconds=20)
        )
        async with ElasticsearchSource(settings) as source:
            yield Logs(es, source)


@pytest.mark.parametrize("case", LOG_CASES, ids=lambda case: f"{case.rule}: {case.description}")
async def test_a_case_fires_exactly_its_alerts(case: LogCase, logs: Logs) -> None:
    rule = RULES[case.rule]
    assert isinstance(rule.query, LogQuery)
    await logs.ship(*case.events)

    seen = await logs.source.query(rule.query, at=NOW)
    assert isinstance(seen, Seen), seen
    alerts = fired(rule, seen, NOW)

    firing = {tuple(sorted(alert.labels.without("alertname").items())): alert for alert in alerts}
    expected = {tuple(sorted(one.labels.items())): one.summary for one in case.fired}
    assert {labels: alert.annotations["summary"] for labels, alert in firing.items()} == expected


@pytest.mark.parametrize(
    "case",
    [case for case in LOG_CASES if case.fired],
    ids=lambda case: f"{case.rule}: {case.description}",
)
async def test_an_alert_has_a_log_line_as_evidence_and_its_node(case: LogCase, logs: Logs) -> None:
    rule = RULES[case.rule]
    assert isinstance(rule.query, LogQuery)
    await logs.ship(*case.events)

    seen = await logs.source.query(rule.query, at=NOW)

    for alert in fired(rule, seen, NOW):
        assert alert.texts
        assert alert.own_subject.node == alert.labels.get("node", "")


@pytest.mark.parametrize("name", RULES)
async def test_a_partial_result_resolves_nothing(name: str, logs: Logs) -> None:
    rule = RULES[name]
    assert isinstance(rule.query, LogQuery)
    case = next(case for case in LOG_CASES if case.rule == name and case.fired)
    await logs.ship(*case.events)
    seen = await logs.source.query(rule.query, at=NOW)
    known = {alert.key: alert for alert in fired(rule, seen, NOW)}
    long_after = NOW + timedelta(days=1)  # long after the lines have left the window

    logs.es.faults.partial(1, times=5)
    blind = await logs.source.query(rule.query, at=long_after)
    after = once(rule, known, blind, long_after)

    assert isinstance(blind, Blind)
    assert after.alerts == known
    assert after.changes == ()
    assert after.blind
