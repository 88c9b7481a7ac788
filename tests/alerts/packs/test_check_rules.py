"""The shipped check rules over scenes: what fires, what stays quiet, and what a part that cannot be seen does."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from alerts.rules import Rule
from collectors.checks.catalogue import CHECKS
from collectors.checks.check import CheckInput, SourceState
from collectors.cluster.inventory import Inventory
from collectors.facts.queries import CheckQuery
from collectors.facts.results import Blind, QueryResult, Seen
from collectors.query_router import QueryRouter
from tests.alerts.packs.check_cases import CHECK_CASES, CheckCase
from tests.alerts.packs.judged import fired, once
from tests.alerts.packs.shipped import shipped_rules
from tests.support.objects import NOW

RULES: Mapping[str, Rule] = {
    name: rule for name, rule in shipped_rules().items() if isinstance(rule.query, CheckQuery)
}
FIRING = [case for case in CHECK_CASES if case.fired]


async def look(case: CheckCase, *, at: datetime = NOW) -> QueryResult:
    """What the answering says of the case's scene."""

    def inputs(at: datetime, _sources: tuple[SourceState, ...]) -> CheckInput:
        return replace(case.inputs, at=at)

    router = QueryRouter(metrics=None, logs=None, checks=CHECKS, check_input=inputs)
    return await router.query(RULES[case.rule].query, at=at)


@pytest.mark.parametrize("case", CHECK_CASES, ids=lambda case: f"{case.rule}: {case.why}")
async def test_what_fires_and_what_does_not(case: CheckCase) -> None:
    alerts = fired(RULES[case.rule], await look(case), NOW)

    told = {
        tuple(sorted(alert.labels.without("alertname").items())): alert.annotations["summary"]
        for alert in alerts
    }
    assert told == {tuple(sorted(one.labels.items())): one.summary for one in case.fired}


@pytest.mark.parametrize("case", FIRING, ids=lambda case: f"{case.rule}: {case.why}")
async def test_an_alert_does_not_become_another_as_time_passes(case: CheckCase) -> None:
    first = await look(case)
    later = await look(case, at=NOW + timedelta(hours=3))

    assert isinstance(first, Seen)
    assert isinstance(later, Seen)
    assert [sample.labels for sample in first.samples] == [sample.labels for sample in later.samples]


def _needs() -> list[tuple[str, str]]:
    found = []
    for name, rule in RULES.items():
        assert isinstance(rule.query, CheckQuery)
        found += [(name, need) for need in sorted(CHECKS[rule.query.name].needs - {"sources"})]
    return found


@pytest.mark.parametrize(("name", "need"), _needs(), ids=lambda word: word)
async def test_an_input_that_cannot_be_seen_resolves_nothing(name: str, need: str) -> None:
    case = next(case for case in FIRING if case.rule == name)
    rule = RULES[name]
    known = {alert.key: alert for alert in fired(rule, await look(case), NOW)}
    gone = Blind(source="kubernetes", at=NOW, reason="the API server does not answer")
    unseen = replace(case, inputs=replace(case.inputs, **{need: gone}))  # type: ignore[arg-type]

    blind = await look(unseen, at=NOW + timedelta(hours=1))
    after = once(rule, known, blind, NOW + timedelta(hours=1))

    assert after.alerts == known
    assert after.changes == ()
    assert after.blind == gone.reason


async def test_services_that_cannot_be_listed_are_not_no_services() -> None:
    case = next(case for case in FIRING if "700 Services" in case.why)
    assert isinstance(case.inputs.inventory, Inventory)
    hidden = replace(case.inputs.inventory, services={}, missing={"services": "forbidden"})

    blind = await look(replace(case, inputs=replace(case.inputs, inventory=hidden)))

    assert isinstance(blind, Blind)
    assert blind.reason == "services cannot be seen: forbidden"


@pytest.mark.parametrize("name", ["YardmasterSourceBlind", "YardmasterRuleBlind"])
async def test_our_own_sight_is_never_blind_itself(name: str) -> None:
    """It fires while everything else is blind, and a blind look on it would still resolve nothing."""
    case = next(case for case in FIRING if case.rule == name)
    gone = Blind(source="kubernetes", at=NOW, reason="dark")
    dark = replace(case.inputs, inventory=gone, trainings=gone, configs=gone)
    rule = RULES[name]

    alerts = fired(rule, await look(replace(case, inputs=dark)), NOW)
    known = {alert.key: alert for alert in alerts}

    assert [alert.annotations["summary"] for alert in alerts] == [one.summary for one in case.fired]
    assert once(rule, known, gone, NOW + timedelta(hours=1)).alerts == known


async def test_a_node_that_restarts_is_one_trouble() -> None:
    """First the kubelet says why, then it is silent, then it says why again: the same alert all along."""
    silent, speaking = (
        next(one for one in FIRING if one.rule == "KubeNodeNotReady").inputs.inventory,
        "gpu-a01",
    )
    assert isinstance(silent, Inventory)
    node = silent.nodes[speaking]
    ready = next(one for one in node.status.conditions or () if one.type == "Ready")
    seen = await look(next(one for one in FIRING if one.rule == "KubeNodeNotReady"))

    assert isinstance(seen, Seen)
    assert ready.status == "Unknown"
    assert {tuple(sample.labels) for sample in seen.samples} == {("node",)}
    assert any("Unknown" in text for sample in seen.samples for text in sample.texts)
