"""Evaluation of a rule: its known alerts and a query result give its new alerts."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.engine import MAX_ALERTS, Known, RuleEvaluation, evaluate
from alerts.lifecycle import AlertState
from alerts.present_series import PresentSeries
from alerts.rules import Rule
from collectors.facts.labels import Labels
from collectors.facts.results import Blind, QueryResult
from collectors.facts.stepwise import result_of
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


def evaluated(
    rule: Rule,
    result: QueryResult,
    known: Known | None = None,
    *,
    after: float = 0,
    topology: Topology | None = None,
    most: int = MAX_ALERTS,
) -> RuleEvaluation:
    return result_of(
        evaluate(
            rule,
            known or {},
            result,
            cluster=CLUSTER,
            renderer=a_renderer(topology),
            now=NOON + minutes(after),
            most=most,
        )
    )


def firing(rule: Rule, *nodes: str) -> Known:
    return evaluated(rule, seen(*(a_sample(node=node) for node in nodes))).alerts


def test_an_alert_has_the_labels_of_its_sample_and_rule_and_its_name() -> None:
    rule = a_rule(labels={"team": "{{ $labels.zone }}-team", "node": "renamed"})

    (alert,) = evaluated(rule, seen(a_sample(node="gpu-a01", zone="dc1", __name__="heat"))).alerts.values()

    assert alert.labels == {
        "alertname": "GPUTemperatureHigh",
        "severity": "warning",
        "zone": "dc1",
        "team": "dc1-team",
        "node": "renamed",
    }


def test_the_value_is_in_the_annotations_and_not_in_the_identity() -> None:
    rule = a_rule()
    first = evaluated(rule, seen(a_sample(91)))
    second = evaluated(rule, seen(a_sample(97)), first.alerts, after=1)

    assert first.alerts.keys() == second.alerts.keys()
    (alert,) = second.alerts.values()
    assert (alert.value, alert.annotations["summary"]) == (97, "gpu-a01 is hot: 97.")
    assert alert.life.since == NOON
    assert second.changes == ()


def test_a_label_with_the_value_never_fires() -> None:
    """As in Prometheus: each value makes another alert."""
    rule = a_rule(for_=minutes(2), labels={"value": "{{ $value }}"})
    known: Known = {}
    for number in range(10):
        result = evaluated(rule, seen(a_sample(90 + number)), known, after=number)
        known = result.alerts
        assert [alert.life.state for alert in known.values()] == [AlertState.PENDING]


def test_samples_with_equal_labels_are_rejected_and_change_nothing() -> None:
    rule = a_rule()
    known = firing(rule, "gpu-a02")

    result = evaluated(
        rule, seen(a_sample(91, __name__="a", node="x"), a_sample(92, __name__="b", node="x")), known
    )

    assert result.alerts is known
    assert result.changes == ()
    assert "same labels" in result.blind
    assert 'node="x"' in result.blind


@pytest.mark.parametrize(("limit", "is_refused"), [(3, False), (2, True), (0, False)])
def test_more_alerts_than_the_rules_limit_are_rejected(limit: int, is_refused: bool) -> None:
    rule = a_rule(limit=limit)
    known = firing(a_rule(), "gpu-a09")

    result = evaluated(rule, seen(*(a_sample(node=f"n{number}") for number in range(3))), known)

    assert bool(result.blind) is is_refused
    if is_refused:
        assert result.alerts is known
        assert "3 alerts; its limit is 2" in result.blind


def test_a_flood_keeps_the_same_alerts_and_reports_what_it_left_out() -> None:
    storm = [a_sample(node=f"n{number}") for number in range(2400)]
    first = evaluated(a_rule(), seen(*storm), most=2000)
    again = evaluated(a_rule(), seen(a_sample(node="a new one"), *storm), first.alerts, most=2000)

    assert len(first.alerts) == len(first.changes) == 2000
    assert first.left_out == "GPUTemperatureHigh returned 2400 alerts; only 2000 are kept"
    assert not first.blind
    assert again.alerts.keys() == first.alerts.keys()
    assert again.changes == ()


def test_an_alert_that_was_left_out_is_added_once_there_is_room() -> None:
    storm = [a_sample(node=f"n{number}") for number in range(2001)]
    first = evaluated(a_rule(), seen(*storm), most=2000)
    kept = {alert.labels["node"] for alert in first.alerts.values()}
    (late,) = [sample for sample in storm if sample.labels["node"] not in kept]

    again = evaluated(a_rule(), seen(late, *storm[:10]), first.alerts)

    assert late.labels["node"] in {alert.labels["node"] for alert in again.alerts.values()}
    assert not again.left_out


def test_a_failed_query_changes_nothing_and_has_a_reason() -> None:
    rule = a_rule(for_=minutes(1))
    known = firing(rule, "gpu-a01")

    result = evaluated(rule, Blind(source="prometheus", at=NOON, reason="refused"), known, after=60)

    assert (result.alerts, result.changes, result.blind) == (known, (), "refused")


@pytest.mark.parametrize(
    ("unread", "kept"),
    [
        pytest.param({}, {"gpu-a01", "gpu-a02"}, id="it may be of any alert"),
        pytest.param({"node": "gpu-a01", "__name__": "heat"}, {"gpu-a01"}, id="it is of one alert"),
        pytest.param({"zone": "dc1"}, {"gpu-a01", "gpu-a02"}, id="the label that tells cannot be read"),
        pytest.param({"node": "gpu-a03"}, set(), id="it is of no alert"),
        pytest.param(
            {"node": "gpu-a01", "severity": "critical"}, {"gpu-a01"}, id="the rule replaces one of its labels"
        ),
    ],
)
def test_an_alert_whose_sample_could_not_be_read_is_kept(unread: Mapping[str, str], kept: set[str]) -> None:
    rule = a_rule()
    known = firing(rule, "gpu-a01", "gpu-a02")

    result = evaluated(rule, seen(a_sample(node="gpu-b01"), unread=(unread,)), known, after=60)

    alerts = {alert.labels["node"]: alert for alert in result.alerts.values()}
    assert alerts.keys() == {"gpu-b01", *kept}
    for node in kept:
        assert (alerts[node].life.state, alerts[node].unseen_since) == (AlertState.FIRING, NOON + minutes(60))
    assert "cannot be read" in result.left_out


def test_a_pending_alert_whose_sample_could_not_be_read_goes_on() -> None:
    rule = a_rule(for_=minutes(2))
    pending = evaluated(rule, seen(a_sample()))
    unread = evaluated(rule, seen(unread=({},)), pending.alerts, after=1)
    again = evaluated(rule, seen(a_sample()), unread.alerts, after=2)

    (alert,) = again.alerts.values()
    assert (alert.life.state, alert.life.since) == (AlertState.FIRING, NOON)
    assert again.left_out == ""


def test_a_change_carries_the_previous_state() -> None:
    rule = a_rule(for_=minutes(1), keep_firing_for=minutes(1))
    states: list[tuple[AlertState | None, AlertState]] = []
    known: Known = {}
    for number, breaches in enumerate([True, True, True, False, False]):
        result = evaluated(rule, seen(a_sample()) if breaches else seen(), known, after=number)
        known = result.alerts
        states += [(change.before, change.alert.life.state) for change in result.changes]

    assert states == [
        (None, AlertState.PENDING),
        (AlertState.PENDING, AlertState.FIRING),
        (AlertState.FIRING, AlertState.RESOLVED),
    ]
    assert known == {}


def test_a_pending_alert_that_ends_is_not_a_change() -> None:
    rule = a_rule(for_=minutes(5))
    known = evaluated(rule, seen(a_sample())).alerts

    result = evaluated(rule, seen(), known, after=1)

    assert (result.alerts, result.changes) == ({}, ())


def test_only_a_target_without_data_is_blind() -> None:
    rule = a_rule()
    known = firing(rule, "gpu-a01", "gpu-a02")

    result = evaluated(rule, seen(present=({"node": "gpu-a02"},)), known, after=60)

    assert [alert.labels["node"] for alert in result.alerts.values()] == ["gpu-a01"]
    assert [change.alert.labels["node"] for change in result.changes] == ["gpu-a02"]
    assert not result.blind


def test_an_alert_of_a_node_that_left_the_cluster_resolves_with_the_reason() -> None:
    rule = a_rule(presence="heat", keep_firing_for=minutes(5))
    known = firing(rule, "gpu-a01")
    without = replace(a_topology(), nodes={"gpu-a02": a_topology().nodes["gpu-a02"]})

    stale = evaluated(
        rule, seen(a_sample(), present=()), known, after=0.5, topology=without
    )  # metrics may be stale
    kept_firing = evaluated(rule, seen(present=()), stale.alerts, after=1, topology=without)
    gone = evaluated(rule, seen(present=()), kept_firing.alerts, after=6, topology=without)

    assert [alert.life.state for alert in kept_firing.alerts.values()] == [AlertState.FIRING]
    (change,) = gone.changes
    assert change.alert.life.state is AlertState.RESOLVED
    assert change.alert.ended_reason == "gpu-a01 left the cluster"


def test_a_node_that_returns_without_data_is_blind_again() -> None:
    rule = a_rule(presence="heat", keep_firing_for=minutes(5))
    without = replace(a_topology(), nodes={"gpu-a02": a_topology().nodes["gpu-a02"]})
    kept_firing = evaluated(rule, seen(present=()), firing(rule, "gpu-a01"), after=1, topology=without)

    back = evaluated(rule, seen(present=()), kept_firing.alerts, after=60)

    assert [alert.life.state for alert in back.alerts.values()] == [AlertState.FIRING]


@pytest.mark.parametrize("node", ["ceph-01", "gpu-a01"])
def test_a_host_that_was_never_a_node_and_an_unknown_topology_resolve_nothing(node: str) -> None:
    rule = a_rule(presence="heat")
    known = firing(rule, node)
    topology = a_topology() if node == "ceph-01" else Topology(cluster=CLUSTER)

    assert (
        evaluated(rule, seen(present=()), known, after=600, topology=topology).alerts.keys() == known.keys()
    )


def test_empty_presence_blinds_every_alert_and_no_presence_query_blinds_none() -> None:
    rule = a_rule()
    known = firing(rule, "gpu-a01", "gpu-a02")

    unseen = evaluated(rule, seen(present=()), known, after=1).alerts
    assert {key: (alert.life, alert.unseen_since) for key, alert in unseen.items()} == {
        key: (alert.life, NOON + minutes(1)) for key, alert in known.items()
    }
    assert evaluated(rule, seen(present=None), known, after=1).alerts == {}


def test_an_active_alert_is_seen_regardless_of_presence() -> None:
    result = evaluated(a_rule(), seen(a_sample(), present=()))

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
def test_present_means_that_all_shared_labels_are_equal(
    labels: Mapping[str, str], present: Mapping[str, str], is_there: bool
) -> None:
    assert PresentSeries([Labels(present)]).agrees(Labels(labels)) is is_there


def test_the_own_subject_does_not_change_with_the_topology() -> None:
    rule = a_rule()
    empty = Topology(cluster=CLUSTER)
    sample = a_sample(namespace="vision", pod="detr-0")
    first = evaluated(rule, seen(sample), topology=empty)
    second = evaluated(rule, seen(sample), first.alerts, after=1, topology=a_topology())
    third = evaluated(rule, seen(sample), second.alerts, after=2, topology=empty)

    (before,), (known,), (after,) = (list(one.alerts.values()) for one in (first, second, third))
    assert before.own_subject == known.own_subject == after.own_subject
    assert before.subject.training == ""
    assert known.subject.training == after.subject.training == "vision/detr"
    assert after.subject.owner == "ana"


def test_texts_stay_when_a_later_result_has_none() -> None:
    rule = a_rule()
    first = evaluated(rule, seen(a_sample(texts=("a line",))))

    (alert,) = evaluated(rule, seen(a_sample()), first.alerts, after=1).alerts.values()

    assert alert.texts == ("a line",)


results = st.lists(
    st.one_of(st.none(), st.sets(st.sampled_from(["gpu-a01", "gpu-a02", "gpu-a03"]))), max_size=25
)


@given(results)
def test_alerts_of_different_nodes_do_not_affect_each_other(active_nodes: list[set[str] | None]) -> None:
    """Three nodes evaluated together give the same alerts as each evaluated alone."""
    rule = a_rule(for_=minutes(2), keep_firing_for=minutes(2))
    together: Known = {}
    alone: dict[str, Known] = {"gpu-a01": {}, "gpu-a02": {}, "gpu-a03": {}}
    for number, active in enumerate(active_nodes):
        blind = Blind(source="prometheus", at=NOON, reason="refused")
        nodes = active or set()
        together = evaluated(
            rule,
            blind if active is None else seen(*(a_sample(node=node) for node in sorted(nodes))),
            together,
            after=number,
        ).alerts
        for node, known in alone.items():
            one = blind if active is None else seen(*([a_sample(node=node)] if node in nodes else []))
            alone[node] = evaluated(rule, one, known, after=number).alerts

    assert together == {key: alert for known in alone.values() for key, alert in known.items()}
