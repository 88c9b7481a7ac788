"""Inhibition: Alertmanager's meaning, with every source counted."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.alert import Alert
from alerts.inhibition import InhibitingAlerts, InhibitRule
from alerts.lifecycle import AlertState
from alerts.matching import matches, parse_matchers
from tests.support.alerting import an_alert


def a_rule(source: str, target: str, *equal: str) -> InhibitRule:
    return InhibitRule(sources=parse_matchers(source), targets=parse_matchers(target), equal=equal)


DOWN = a_rule("alertname=JobDown", "alertname=InstanceDown", "job", "zone")


def named(name: str, *, state: AlertState = AlertState.FIRING, **labels: str) -> Alert:
    return an_alert(name, state=state, on=labels)


def inhibitors(rule: InhibitRule, alert: Alert, *others: Alert) -> list[str]:
    return [one.name for one in InhibitingAlerts((rule,), others).inhibiting(alert)]


def test_a_source_inhibits_targets_with_equal_labels() -> None:
    source = named("JobDown", job="a", zone="aa")
    assert inhibitors(DOWN, named("InstanceDown", job="a", zone="aa"), source) == ["JobDown"]
    assert inhibitors(DOWN, named("InstanceDown", job="a", zone="ab"), source) == []
    assert inhibitors(DOWN, named("Other", job="a", zone="aa"), source) == []
    assert inhibitors(DOWN, source, source) == []


def test_labels_that_both_lack_are_equal_and_one_that_one_lacks_is_not() -> None:
    assert inhibitors(DOWN, named("InstanceDown", job="a"), named("JobDown", job="a")) == ["JobDown"]
    assert inhibitors(DOWN, named("InstanceDown", job="a"), named("JobDown", job="a", zone="aa")) == []


@pytest.mark.parametrize("state", [AlertState.PENDING, AlertState.RESOLVED])
def test_only_a_firing_alert_inhibits(state: AlertState) -> None:
    source = named("JobDown", state=state, job="a", zone="aa")
    assert inhibitors(DOWN, named("InstanceDown", job="a", zone="aa"), source) == []


def test_the_others_still_inhibit_when_one_source_ends() -> None:
    first, second = (named("JobDown", job="a", zone="aa", replica=name) for name in ("1", "2"))
    known = InhibitingAlerts((DOWN,), (first, second))
    target = named("InstanceDown", job="a", zone="aa")
    assert len(known.inhibiting(target)) == 2
    known.put(replace(first, life=replace(first.life, state=AlertState.RESOLVED)))
    assert known.inhibiting(target) == (second,)
    known.remove(second.id)
    assert known.inhibiting(target) == ()


def test_an_alert_that_fits_both_sides_is_not_inhibited_by_another_that_does() -> None:
    both = a_rule("severity=~critical|warning", "severity=~warning|info", "node")
    first, second = (an_alert(name, severity="warning", on={"node": "n"}) for name in ("A", "B"))
    worse = an_alert("C", severity="critical", on={"node": "n"})
    assert inhibitors(both, first, first, second) == []
    assert inhibitors(both, first, first, second, worse) == ["C"]


def test_an_alert_that_fits_both_sides_does_not_walk_those_that_do(monkeypatch: pytest.MonkeyPatch) -> None:
    both = a_rule("severity=~critical|warning", "severity=~warning|info", "node")
    alerts = [an_alert(f"A{number}", severity="warning", on={"node": "n"}) for number in range(500)]
    known = InhibitingAlerts((both,), alerts)
    walked = 0
    of_places = InhibitingAlerts._of_places

    def counted(*given: Any) -> Iterator[tuple[str, Alert]]:
        nonlocal walked
        for found in of_places(*given):
            walked += 1
            yield found

    monkeypatch.setattr(InhibitingAlerts, "_of_places", counted)
    assert [one for one in alerts if known.inhibiting(one)] == []
    assert walked == 0


def test_the_node_of_an_alert_is_equal_whatever_label_names_it() -> None:
    rule = a_rule("alertname=NodeDown", "alertname=GPUHot", "node")
    assert inhibitors(
        rule, named("GPUHot", Hostname="gpu-a01", gpu="1"), named("NodeDown", node="gpu-a01")
    ) == ["NodeDown"]


def test_what_a_batch_changes_counts_before_it_is_stored() -> None:
    source, target = named("JobDown", job="a", zone="aa"), named("InstanceDown", job="a", zone="aa")
    over = replace(source, life=replace(source.life, state=AlertState.RESOLVED))
    assert InhibitingAlerts((DOWN,)).inhibiting(target, InhibitingAlerts((DOWN,), (source,))) == (source,)
    assert InhibitingAlerts((DOWN,), (source,)).inhibiting(target, InhibitingAlerts((DOWN,), (over,))) == ()


ALERTS = st.builds(
    lambda name, severity, node, state: an_alert(
        name, severity=severity, state=state, on={"node": node, "job": name}
    ),
    st.sampled_from(("A", "B", "C")),
    st.sampled_from(("critical", "warning")),
    st.sampled_from(("n1", "n2")),
    st.sampled_from((AlertState.FIRING, AlertState.RESOLVED)),
)
RULES = st.builds(
    a_rule,
    st.sampled_from(("alertname=A", "severity=critical", "node=n1")),
    st.sampled_from(("alertname=B", "severity=warning", "alertname=~A|B")),
    st.sampled_from(("node", "job", "nothing")),
)


@given(st.lists(RULES, min_size=1, max_size=2), st.lists(ALERTS, max_size=12))
def test_whatever_comes_and_goes_it_is_what_the_rules_say_of_the_alerts_as_they_are(
    rules: list[InhibitRule], updates: list[Alert]
) -> None:
    known = InhibitingAlerts(rules)
    latest: dict[str, Alert] = {}
    for update in updates:
        known.put(update)
        latest[update.id] = update
    for target in latest.values():
        expected = {
            source.id
            for rule in rules
            for source in latest.values()
            if source.is_firing
            and matches(rule.sources, source.words)
            and matches(rule.targets, target.words)
            and rule.key_of(source.words) == rule.key_of(target.words)
            and not (matches(rule.sources, target.words) and matches(rule.targets, source.words))
        }
        assert {one.id for one in known.inhibiting(target)} == expected
