"""The shipped check rules on their cases: what fires, what stays quiet, and the effect of a blind input."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from alerts.rules import Rule
from collectors.check_catalogue import CHECKS
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import SERVICES
from collectors.facts.queries import CheckQuery
from collectors.facts.results import Blind, QueryResult, Seen
from tests.alerts.packs.case_outcome import check_outcome, check_result, expected
from tests.alerts.packs.check_case import CheckCase
from tests.alerts.packs.check_cases import CHECK_CASES
from tests.alerts.packs.evaluated import fired, once
from tests.alerts.packs.shipped import shipped_rules
from tests.support.objects import NOW, hide

RULES: Mapping[str, Rule] = {
    name: rule for name, rule in shipped_rules().items() if isinstance(rule.query, CheckQuery)
}
FIRING = [case for case in CHECK_CASES if case.fired]
SAYING = [case for case in FIRING if all(one.texts is not None for one in case.fired)]


async def query_result(case: CheckCase, *, at: datetime = NOW) -> QueryResult:
    return await check_result(RULES[case.rule], case, at=at)


@pytest.mark.parametrize("case", CHECK_CASES, ids=lambda case: f"{case.rule}: {case.description}")
async def test_a_case_fires_exactly_its_alerts(case: CheckCase) -> None:
    assert await check_outcome(RULES[case.rule], case) == expected(case)


@pytest.mark.parametrize("case", SAYING, ids=lambda case: f"{case.rule}: {case.description}")
async def test_a_case_says_what_was_seen(case: CheckCase) -> None:
    result = await query_result(case)

    assert isinstance(result, Seen)
    assert [sample.texts for sample in result.samples] == [one.texts for one in case.fired]


@pytest.mark.parametrize("case", FIRING, ids=lambda case: f"{case.rule}: {case.description}")
async def test_an_alert_keeps_its_labels_as_time_passes(case: CheckCase) -> None:
    """Some count what happened lately, and end in between: then there is no alert, but never another one."""
    first = await query_result(case)
    soon = await query_result(case, at=NOW + timedelta(minutes=1))
    later = await query_result(case, at=NOW + timedelta(hours=3))

    assert isinstance(first, Seen)
    assert isinstance(soon, Seen)
    assert isinstance(later, Seen)
    labels = [sample.labels for sample in first.samples]
    assert [sample.labels for sample in soon.samples] == labels
    assert [sample.labels for sample in later.samples] in ([], labels)


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
    known = {alert.key: alert for alert in fired(rule, await query_result(case), NOW)}
    gone = Blind(source="kubernetes", at=NOW, reason="the API server does not answer")
    unseen = replace(case, inputs=replace(case.inputs, **{need: gone}))  # type: ignore[arg-type]

    blind = await query_result(unseen, at=NOW + timedelta(hours=1))
    after = once(rule, known, blind, NOW + timedelta(hours=1))

    assert after.alerts == known
    assert after.changes == ()
    assert after.blind == gone.reason


async def test_services_that_cannot_be_listed_are_blind() -> None:
    case = next(case for case in FIRING if "700 Services" in case.description)
    assert isinstance(case.inputs.inventory, Inventory)
    hidden = hide(case.inputs.inventory, SERVICES, reason="forbidden")

    blind = await query_result(replace(case, inputs=replace(case.inputs, inventory=hidden)))

    assert isinstance(blind, Blind)
    assert blind.reason == "services cannot be seen: forbidden"


@pytest.mark.parametrize("name", sorted(set(RULES) - {name for name, _ in _needs()}))
async def test_a_rule_about_ourselves_is_never_blind(name: str) -> None:
    """It fires while everything else is blind, and a blind result of it would still resolve nothing."""
    case = next(case for case in FIRING if case.rule == name)
    gone = Blind(source="kubernetes", at=NOW, reason="dark")
    dark = replace(case.inputs, inventory=gone, trainings=gone, configs=gone)
    rule = RULES[name]

    alerts = fired(rule, await query_result(replace(case, inputs=dark)), NOW)
    known = {alert.key: alert for alert in alerts}

    assert [alert.annotations["summary"] for alert in alerts] == [one.summary for one in case.fired]
    assert once(rule, known, gone, NOW + timedelta(hours=1)).alerts == known


async def test_a_node_that_restarts_is_one_alert() -> None:
    """First the kubelet reports a reason, then nothing, then a reason again: this is always the same alert."""
    inventory = next(one for one in FIRING if one.rule == "KubeNodeNotReady").inputs.inventory
    assert isinstance(inventory, Inventory)
    node = inventory.nodes["gpu-a01"]
    ready = next(one for one in node.status.conditions or () if one.type == "Ready")
    seen = await query_result(next(one for one in FIRING if one.rule == "KubeNodeNotReady"))

    assert isinstance(seen, Seen)
    assert ready.status == "Unknown"
    assert {tuple(sample.labels) for sample in seen.samples} == {("node",)}
    assert any("Unknown" in text for sample in seen.samples for text in sample.texts)
