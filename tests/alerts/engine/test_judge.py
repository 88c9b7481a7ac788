"""The engine: one rule, what was known, what was seen."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.engine import Known, RuleEvaluation, evaluate, is_present
from alerts.lifecycle import AlertState
from alerts.rules import Rule
from collectors.facts.labels import Labels
from collectors.facts.results import Blind, QueryResult
from collectors.facts.topology import Topology
from tests.support.alerting import (
    CLUSTER,
    NOON,
    a_renderer,
    a_rule,
    a_sample,
    a_topology,
    minutes,
    seen,
)


def judged(
    rule: Rule,
    result: QueryResult,
    known: Known | None = None,
    *,
    after: float = 0,
    topology: Topology | None = None,
) -> RuleEvaluation:
    return evaluate(
        rule,
        known or {},
        result,
        cluster=CLUSTER,
        renderer=a_renderer(topology),
        now=NOON + minutes(after),
    )


def firing(rule: Rule, *nodes: str) -> Known:
    return judged(rule, seen(*(a_sample(node=node) for node in nodes))).alerts


def test_an_alert_has_the_samples_labels_the_rules_and_its_name() -> None:
    rule = a_rule(labels={"team": "{{ $labels.zone }}-team", "node": "renamed"})

    (alert,) = judged(rule, seen(a_sample(node="gpu-a01", zone="dc1", __name__="heat"))).alerts.values()

    assert alert.labels == {
        "alertname": "GPUTemperatureHigh",
        "severity": "warning",
        "zone": "dc1",
        "team": "dc1-team",
        "node": "renamed",
    }


def test_the_value_is_in_the_words_and_not_in_the_identity() -> None:
    rule = a_rule()
    first = judged(rule, seen(a_sample(91)))
    second = judged(rule, seen(a_sample(97)), first.alerts, after=1)

    assert first.alerts.keys() == second.alerts.keys()
    (alert,) = second.alerts.values()
    assert (alert.value, alert.annotations["summary"]) == (97, "gpu-a01 is hot: 97.")
    assert alert.life.since == NOON
    assert second.changes == ()


def test_a_label_with_the_value_never_fires() -> None:
    """Prometheus' own trap: another alert each time."""
    rule = a_rule(for_=minutes(2), labels={"value": "{{ $value }}"})
    known: Known = {}
    for number in range(10):
        result = judged(rule, seen(a_sample(90 + number)), known, after=number)
        known = result.alerts
        assert [alert.life.state for alert in known.values()] == [AlertState.PENDING]


def test_two_results_with_the_same_labels_are_refused_and_nothing_changes() -> None:
    rule = a_rule()
    known = firing(rule, "gpu-a02")

    result = judged(
        rule, seen(a_sample(91, __name__="a", node="x"), a_sample(92, __name__="b", node="x")), known
    )

    assert result.alerts is known
    assert result.changes == ()
    assert "same labels" in result.blind
    assert 'node="x"' in result.blind


@pytest.mark.parametrize(("limit", "is_refused"), [(3, False), (2, True), (0, False)])
def test_more_alerts_than_the_limit_are_refused_whole(limit: int, is_refused: bool) -> None:
    rule = a_rule(limit=limit)
    known = firing(a_rule(), "gpu-a09")

    result = judged(rule, seen(*(a_sample(node=f"n{number}") for number in range(3))), known)

    assert bool(result.blind) is is_refused
    if is_refused:
        assert result.alerts is known
        assert "3 alerts, its limit is 2" in result.blind


def test_of_too_many_some_are_told_the_same_ones_each_time_and_it_is_said() -> None:
    storm = [a_sample(node=f"n{number}") for number in range(2400)]
    first = judged(a_rule(), seen(*storm))
    again = judged(a_rule(), seen(a_sample(node="a new one"), *storm), first.alerts)

    assert len(first.alerts) == len(first.changes) == 2000
    assert first.left_out == "GPUTemperatureHigh gave 2400 alerts; 2000 of them are told"
    assert not first.blind
    assert again.alerts.keys() == first.alerts.keys()
    assert again.changes == ()


def test_one_that_was_left_out_is_told_once_there_is_room() -> None:
    storm = [a_sample(node=f"n{number}") for number in range(2001)]
    first = judged(a_rule(), seen(*storm))
    told = {alert.labels["node"] for alert in first.alerts.values()}
    (late,) = [sample for sample in storm if sample.labels["node"] not in told]

    again = judged(a_rule(), seen(late, *storm[:10]), first.alerts)

    assert late.labels["node"] in {alert.labels["node"] for alert in again.alerts.values()}
    assert not again.left_out


def test_a_look_that_failed_changes_nothing_and_says_why() -> None:
    rule = a_rule(for_=minutes(1))
    known = firing(rule, "gpu-a01")

    result = judged(rule, Blind(source="prometheus", at=NOON, reason="refused"), known, after=60)

    assert (result.alerts, result.changes, result.blind) == (known, (), "refused")


def test_a_change_is_told_with_the_phase_before() -> None:
    rule = a_rule(for_=minutes(1), keep_firing_for=minutes(1))
    told: list[tuple[AlertState | None, AlertState]] = []
    known: Known = {}
    for number, breaches in enumerate([True, True, True, False, False]):
        result = judged(rule, seen(a_sample()) if breaches else seen(), known, after=number)
        known = result.alerts
        told += [(change.before, change.alert.life.state) for change in result.changes]

    assert told == [
        (None, AlertState.PENDING),
        (AlertState.PENDING, AlertState.FIRING),
        (AlertState.FIRING, AlertState.RESOLVED),
    ]
    assert known == {}


def test_a_pending_alert_that_clears_is_no_change() -> None:
    rule = a_rule(for_=minutes(5))
    known = judged(rule, seen(a_sample())).alerts

    result = judged(rule, seen(), known, after=1)

    assert (result.alerts, result.changes) == ({}, ())


def test_what_is_not_watched_is_blind_alone() -> None:
    rule = a_rule()
    known = firing(rule, "gpu-a01", "gpu-a02")

    result = judged(rule, seen(present=({"node": "gpu-a02"},)), known, after=60)

    assert [alert.labels["node"] for alert in result.alerts.values()] == ["gpu-a01"]
    assert [change.alert.labels["node"] for change in result.changes] == ["gpu-a02"]
    assert not result.blind


def test_what_stood_on_a_node_that_left_the_cluster_clears_and_says_so() -> None:
    rule = a_rule(presence="heat", keep_firing_for=minutes(5))
    known = firing(rule, "gpu-a01")
    without = replace(a_topology(), nodes={"gpu-a02": a_topology().nodes["gpu-a02"]})

    stale = judged(
        rule, seen(a_sample(), present=()), known, after=0.5, topology=without
    )  # as metrics may be
    lingers = judged(rule, seen(present=()), stale.alerts, after=1, topology=without)
    gone = judged(rule, seen(present=()), lingers.alerts, after=6, topology=without)

    assert [alert.life.state for alert in lingers.alerts.values()] == [AlertState.FIRING]
    (change,) = gone.changes
    assert change.alert.life.state is AlertState.RESOLVED
    assert change.alert.ended_reason == "gpu-a01 is no longer in the cluster"


def test_a_node_that_comes_back_unseen_is_blind_again() -> None:
    rule = a_rule(presence="heat", keep_firing_for=minutes(5))
    without = replace(a_topology(), nodes={"gpu-a02": a_topology().nodes["gpu-a02"]})
    lingers = judged(rule, seen(present=()), firing(rule, "gpu-a01"), after=1, topology=without)

    back = judged(rule, seen(present=()), lingers.alerts, after=60)

    assert [alert.life.state for alert in back.alerts.values()] == [AlertState.FIRING]


@pytest.mark.parametrize("node", ["ceph-01", "gpu-a01"])
def test_a_host_that_never_was_a_node_and_a_cluster_that_is_not_seen_clear_nothing(node: str) -> None:
    rule = a_rule(presence="heat")
    known = firing(rule, node)
    topology = a_topology() if node == "ceph-01" else Topology(cluster=CLUSTER)

    assert judged(rule, seen(present=()), known, after=600, topology=topology).alerts.keys() == known.keys()


def test_nothing_present_is_blind_for_all_and_no_presence_query_for_none() -> None:
    rule = a_rule()
    known = firing(rule, "gpu-a01", "gpu-a02")

    unseen = judged(rule, seen(present=()), known, after=1).alerts
    assert {key: (alert.life, alert.unseen_since) for key, alert in unseen.items()} == {
        key: (alert.life, NOON + minutes(1)) for key, alert in known.items()
    }
    assert judged(rule, seen(present=None), known, after=1).alerts == {}


def test_what_breaches_is_seen_whatever_the_presence_query_says() -> None:
    result = judged(a_rule(), seen(a_sample(), present=()))

    assert [alert.is_firing for alert in result.alerts.values()] == [True]


@pytest.mark.parametrize(
    ("labels", "present", "is_there"),
    [
        ({"node": "a"}, {"node": "a"}, True),
        ({"node": "a"}, {"node": "b"}, False),
        ({"node": "a", "gpu": "1"}, {"node": "a"}, True),
        ({"node": "a"}, {"node": "a", "job": "dcgm"}, True),
        ({"node": "a", "gpu": "1"}, {"node": "a", "gpu": "2"}, False),
        ({"node": "a"}, {}, True),
    ],
)
def test_watched_means_no_label_that_both_have_differs(
    labels: Mapping[str, str], present: Mapping[str, str], is_there: bool
) -> None:
    assert is_present(Labels(labels), [Labels(present)]) is is_there


def test_the_subject_that_the_labels_name_does_not_move_with_the_cluster() -> None:
    rule = a_rule()
    empty = Topology(cluster=CLUSTER)
    sample = a_sample(namespace="vision", pod="detr-0")
    first = judged(rule, seen(sample), topology=empty)
    second = judged(rule, seen(sample), first.alerts, after=1, topology=a_topology())
    third = judged(rule, seen(sample), second.alerts, after=2, topology=empty)

    (before,), (known,), (after,) = (list(one.alerts.values()) for one in (first, second, third))
    assert before.own_subject == known.own_subject == after.own_subject
    assert before.subject.training == ""
    assert known.subject.training == after.subject.training == "vision/detr"
    assert after.subject.owner == "ana"


def test_evidence_stays_when_a_later_look_has_none() -> None:
    rule = a_rule()
    first = judged(rule, seen(a_sample(texts=("a line",))))

    (alert,) = judged(rule, seen(a_sample()), first.alerts, after=1).alerts.values()

    assert alert.texts == ("a line",)


looks = st.lists(
    st.one_of(st.none(), st.sets(st.sampled_from(["gpu-a01", "gpu-a02", "gpu-a03"]))), max_size=25
)


@given(looks)
def test_each_subject_lives_its_own_life(strip: list[set[str] | None]) -> None:
    """Three nodes judged together are as each judged alone."""
    rule = a_rule(for_=minutes(2), keep_firing_for=minutes(2))
    together: Known = {}
    alone: dict[str, Known] = {"gpu-a01": {}, "gpu-a02": {}, "gpu-a03": {}}
    for number, look in enumerate(strip):
        blind = Blind(source="prometheus", at=NOON, reason="dark")
        nodes = look or set()
        together = judged(
            rule,
            blind if look is None else seen(*(a_sample(node=node) for node in sorted(nodes))),
            together,
            after=number,
        ).alerts
        for node, known in alone.items():
            one = blind if look is None else seen(*([a_sample(node=node)] if node in nodes else []))
            alone[node] = judged(rule, one, known, after=number).alerts

    assert together == {key: alert for known in alone.values() for key, alert in known.items()}
