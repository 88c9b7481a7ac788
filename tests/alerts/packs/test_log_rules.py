"""The shipped log rules over lines that the demo's components print, shipped into a look-alike of Elasticsearch."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta

import aiohttp
import pytest

from collectors.facts.queries import LogQuery
from collectors.facts.results import Blind, Seen
from collectors.sources.elasticsearch import ElasticsearchOptions, ElasticsearchSource
from demo.lookalikes.elasticsearch.lookalike import ElasticsearchLookalike
from demo.world.layout import a_cluster
from demo.world.logs.line import Document, document
from demo.world.logs.shipper import INDEX, TEMPLATE, bulk
from demo.world.state import State, a_state
from tests.alerts.packs.judged import fired, once
from tests.alerts.packs.log_cases import LOG_CASES, LogCase, Said
from tests.alerts.packs.shipped import shipped_rules
from tests.support.objects import NOW

RULES = {name: rule for name, rule in shipped_rules().items() if isinstance(rule.query, LogQuery)}


class Logs:
    """A look-alike with the demo's index template, and a source to it."""

    def __init__(self, es: ElasticsearchLookalike, source: ElasticsearchSource) -> None:
        self.es = es
        self.source = source
        self._state: State = a_state(a_cluster(), NOW)

    async def ship(self, *said: Said) -> None:
        """Ship these lines, and one of every day before, so that no day is without logs."""
        murmur = [Said(what="kubelet-start", ago=60 + day * 86_400) for day in range(8)]
        lines = [line for one in (*murmur, *said) for line in one.lines(self._state)]
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


@pytest.mark.parametrize("case", LOG_CASES, ids=lambda case: f"{case.rule}: {case.why}")
async def test_what_fires_and_what_does_not(case: LogCase, logs: Logs) -> None:
    rule = RULES[case.rule]
    assert isinstance(rule.query, LogQuery)
    await logs.ship(*case.said)

    seen = await logs.source.search(rule.query, at=NOW)
    assert isinstance(seen, Seen), seen
    alerts = fired(rule, seen, NOW)

    told = {tuple(sorted(alert.labels.without("alertname").items())): alert for alert in alerts}
    wanted = {tuple(sorted(one.labels.items())): one.summary for one in case.fired}
    assert {labels: alert.annotations["summary"] for labels, alert in told.items()} == wanted


@pytest.mark.parametrize(
    "case",
    [case for case in LOG_CASES if case.fired],
    ids=lambda case: f"{case.rule}: {case.why}",
)
async def test_an_alert_brings_a_line_as_evidence_and_knows_its_node(case: LogCase, logs: Logs) -> None:
    rule = RULES[case.rule]
    assert isinstance(rule.query, LogQuery)
    await logs.ship(*case.said)

    seen = await logs.source.search(rule.query, at=NOW)

    for alert in fired(rule, seen, NOW):
        assert alert.texts
        assert alert.own_subject.node == alert.labels["node"]


@pytest.mark.parametrize("name", RULES)
async def test_half_an_answer_resolves_nothing(name: str, logs: Logs) -> None:
    rule = RULES[name]
    assert isinstance(rule.query, LogQuery)
    case = next(case for case in LOG_CASES if case.rule == name and case.fired)
    await logs.ship(*case.said)
    seen = await logs.source.search(rule.query, at=NOW)
    known = {alert.key: alert for alert in fired(rule, seen, NOW)}
    long_after = NOW + timedelta(days=1)  # when the lines are long out of the window

    logs.es.faults.partial(1, times=5)
    blind = await logs.source.search(rule.query, at=long_after)
    after = once(rule, known, blind, long_after)

    assert isinstance(blind, Blind)
    assert after.alerts == known
    assert after.changes == ()
    assert after.blind
