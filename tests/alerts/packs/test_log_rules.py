"""The shipped log rules on lines that the demo's components write, in a look-alike of Elasticsearch."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from collectors.facts.queries import LogQuery
from collectors.facts.results import Blind
from tests.alerts.packs.aged_cases import AGED_CASES
from tests.alerts.packs.case_outcome import expected, log_outcome
from tests.alerts.packs.evaluated import fired, once
from tests.alerts.packs.log_case import LogCase
from tests.alerts.packs.log_cases import LOG_CASES
from tests.alerts.packs.shipped import shipped_rules
from tests.alerts.packs.shipped_logs import Logs
from tests.support.objects import NOW

RULES = {name: rule for name, rule in shipped_rules().items() if isinstance(rule.query, LogQuery)}


@pytest.fixture
async def logs() -> AsyncIterator[Logs]:
    async with Logs.running() as running:
        yield running


@pytest.mark.parametrize(
    "case", [*LOG_CASES, *AGED_CASES], ids=lambda case: f"{case.rule}: {case.description}"
)
async def test_a_case_fires_exactly_its_alerts(case: LogCase, logs: Logs) -> None:
    await logs.ship(*case.events)

    assert await log_outcome(RULES[case.rule], logs) == expected(case)


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
