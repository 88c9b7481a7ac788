"""Alerts about one object become one incident with a history."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.alert import Alert
from alerts.incidents.events import MAX_EVENTS, IncidentEventType
from alerts.incidents.group_keys import group_key_of
from alerts.incidents.grouping import GroupingContext, acknowledge, add_action, open_incident, resolve_if_over
from alerts.incidents.incident import Incident
from alerts.incidents.members import summary_of
from alerts.rules import ResolveWhen, Severity
from collectors.facts.subjects import Subject
from collectors.facts.topology import Topology
from tests.support.alerting import NOON, a_rule, a_topology, an_alert, minutes, resolved
from tests.support.grouping import add_alert, belongs

GROUPING = GroupingContext(rules={}, topology=a_topology())


def opened(alert: Alert, *, grouping: GroupingContext = GROUPING) -> Incident:
    return add_alert(open_incident("i1", alert, channels=("C1",), now=NOON), alert, grouping, NOON)


def event_types(incident: Incident) -> list[str]:
    return [event.type.value for event in incident.events]


@pytest.mark.parametrize(
    ("labels", "group_key"),
    [
        pytest.param({"node": "gpu-a01"}, "node/gpu-a01", id="a node"),
        pytest.param({"instance": "10.0.0.11:9100"}, "node/gpu-a01", id="its address"),
        pytest.param({"Hostname": "gpu-a01", "gpu": "3", "UUID": "GPU-3"}, "node/gpu-a01", id="a GPU of it"),
        pytest.param({"node": "gpu-a01", "component": "kubelet"}, "node/gpu-a01", id="a component on it"),
        pytest.param({"component": "dns"}, "component/dns", id="a component of the cluster"),
        pytest.param({"namespace": "vision", "pod": "detr-1"}, "training/vision/detr", id="a rank"),
        pytest.param({"namespace": "kube-system", "pod": "x"}, "pod/kube-system/x", id="any other pod"),
        pytest.param(
            {"exported_namespace": "vision", "exported_pod": "detr-0", "Hostname": "gpu-a01", "gpu": "1"},
            "training/vision/detr",
            id="a rank, as a GPU's exporter names it",
        ),
        pytest.param({"training": "vision/detr"}, "training/vision/detr", id="a training"),
        pytest.param(
            {"namespace": "vision", "deployment": "api"}, "workload/vision/Deployment/api", id="a workload"
        ),
        pytest.param(
            {"namespace": "vision", "persistentvolumeclaim": "coco", "node": "gpu-a01"},
            "volume/vision/coco",
            id="a volume, wherever it is mounted",
        ),
        pytest.param({"namespace": "vision"}, "namespace/vision", id="a namespace"),
        pytest.param({"colour": "red"}, "rule/GPUTemperatureHigh", id="no known object"),
    ],
)
def test_the_group_key_of_an_alert(labels: dict[str, str], group_key: str) -> None:
    assert group_key_of(an_alert(on=labels)) == group_key


def test_a_hot_gpu_a_silent_kubelet_and_a_full_disk_are_one_incident() -> None:
    alerts = [
        an_alert("GPUTemperatureHigh", Hostname="gpu-a01", gpu="3", UUID="GPU-3"),
        an_alert("KubeNodeNotReady", node="gpu-a01"),
        an_alert("NodeFilesystemSpaceFillingUp", instance="10.0.0.11:9100", mountpoint="/"),
    ]
    incident = opened(alerts[0])

    assert all(belongs(incident, alert, NOON) for alert in alerts)
    assert not belongs(incident, an_alert(node="gpu-a02"), NOON)
    assert not belongs(incident, replace(alerts[0], cluster="prod-b"), NOON)


def test_an_incident_keeps_every_training_that_it_affected() -> None:
    alert = an_alert(node="gpu-a01")
    incident = opened(alert)
    quiet = add_alert(
        incident, alert, replace(GROUPING, topology=Topology(cluster="prod-a")), NOON + minutes(1)
    )

    assert [(one.training, one.owner, one.gpus) for one in incident.impacts] == [("vision/detr", "ana", 16)]
    assert quiet.impacts == incident.impacts


def test_a_second_alert_is_added_and_a_more_severe_one_raises_the_severity() -> None:
    incident = opened(an_alert("A", severity="warning"))
    joined = add_alert(incident, an_alert("B", severity="info"), GROUPING, NOON + minutes(1))
    worse = add_alert(joined, an_alert("C", severity="critical"), GROUPING, NOON + minutes(2))

    assert event_types(worse) == ["opened", "alert_added", "severity_raised"]
    assert [event.number for event in worse.events] == [1, 2, 3]
    assert (incident.severity, joined.severity, worse.severity) == (
        Severity.WARNING,
        Severity.WARNING,
        Severity.CRITICAL,
    )
    assert worse.lead.name == "C"


def test_the_severity_follows_the_firing_alerts_and_the_last_one_stays() -> None:
    warning, critical = an_alert("A"), an_alert("B", severity="critical")
    incident = add_alert(opened(warning), critical, GROUPING, NOON)
    better = add_alert(incident, resolved(critical, NOON + minutes(1)), GROUPING, NOON + minutes(1))
    over = add_alert(better, resolved(warning, NOON + minutes(2)), GROUPING, NOON + minutes(2))

    assert (incident.severity, better.severity, over.severity) == (
        Severity.CRITICAL,
        Severity.WARNING,
        Severity.WARNING,
    )


def test_the_same_alert_again_is_not_an_event() -> None:
    alert = an_alert()
    incident = opened(alert)

    again = add_alert(incident, replace(alert, value=99), GROUPING, NOON + minutes(5))

    assert event_types(again) == ["opened"]
    assert again.members[0].value == 99


def test_an_incident_resolves_when_none_of_its_alerts_fires() -> None:
    one, other = an_alert("A"), an_alert("B")
    incident = add_alert(opened(one), other, GROUPING, NOON)
    half = resolve_if_over(
        add_alert(incident, resolved(one, NOON + minutes(1)), GROUPING, NOON + minutes(1)), NOON
    )
    end = NOON + minutes(3)
    whole = resolve_if_over(add_alert(half, resolved(other, end), GROUPING, end), end)

    assert half.is_open
    assert whole.resolved_at == end
    assert event_types(whole) == ["opened", "alert_added", "alert_resolved", "alert_resolved", "resolved"]
    assert resolve_if_over(whole, end + minutes(9)) is whole


def test_an_incident_that_resolves_when_acknowledged_stays_open_until_then() -> None:
    alert = an_alert("VolumeFormatted")
    grouping = replace(
        GROUPING, rules={alert.rule: a_rule("VolumeFormatted", resolve_when=ResolveWhen.ACKNOWLEDGED)}
    )
    incident = opened(alert, grouping=grouping)
    cleared = add_alert(incident, resolved(alert, NOON + minutes(1)), grouping, NOON + minutes(1))

    waiting = resolve_if_over(cleared, NOON + minutes(1))
    acknowledged = resolve_if_over(acknowledge(waiting, who="U1", now=NOON + minutes(9)), NOON + minutes(9))

    assert waiting.is_open
    assert event_types(acknowledged)[-2:] == ["acknowledged", "resolved"]


@pytest.mark.parametrize(("after", "is_same"), [(9, True), (10, False), (300, False)])
def test_an_alert_within_ten_minutes_belongs_to_the_resolved_incident(after: float, is_same: bool) -> None:
    alert = an_alert()
    over = resolve_if_over(add_alert(opened(alert), resolved(alert, NOON), GROUPING, NOON), NOON)

    assert belongs(over, alert, NOON + minutes(after)) is is_same


def test_a_reopened_incident_is_not_acknowledged() -> None:
    alert = an_alert()
    acknowledged = acknowledge(opened(alert), who="U1", now=NOON)
    over = resolve_if_over(
        add_alert(acknowledged, resolved(alert, NOON + minutes(1)), GROUPING, NOON + minutes(1)),
        NOON + minutes(1),
    )

    back = add_alert(over, alert, GROUPING, NOON + minutes(9))

    assert back.is_open
    assert (back.acknowledged_by, back.acknowledged_at, back.fixed_by) == ("", None, ())
    assert event_types(back) == ["opened", "acknowledged", "alert_resolved", "resolved", "reopened"]
    assert back.opened_at == NOON


def test_the_group_key_never_changes() -> None:
    alert = an_alert(namespace="vision", pod="detr-0", topology=Topology(cluster="prod-a"))
    incident = opened(alert)
    known = replace(alert, subject=a_topology().complete(alert.own_subject))

    assert incident.group_key == "pod/vision/detr-0"
    assert add_alert(incident, known, GROUPING, NOON).group_key == "pod/vision/detr-0"
    assert add_alert(incident, known, GROUPING, NOON).subject.training == "vision/detr"


def test_the_same_acknowledgement_or_action_twice_changes_nothing() -> None:
    acknowledged = acknowledge(opened(an_alert()), who="U1", now=NOON)
    done = add_action(acknowledged, plan="p1", line="node cordon gpu-a01", who="U1", now=NOON)

    assert acknowledge(done, who="U1", now=NOON + minutes(1)) is done
    assert add_action(done, plan="p1", line="node cordon gpu-a01", who="U1", now=NOON) is done
    assert acknowledge(done, who="U2", now=NOON).acknowledged_by == "U2"


MOST = 20  # alerts in these incidents


def test_alerts_of_an_incident_have_a_limit_and_it_says_so() -> None:
    incident = opened(an_alert(node="gpu-a01"))
    for number in range(MOST + 5):
        assert not incident.is_crowded or number >= MOST - 1
        alert = an_alert(node="gpu-a01", gpu=str(number))
        incident = add_alert(incident, alert, GROUPING, NOON, most=MOST)

    assert len(incident.members) == MOST
    assert incident.is_crowded


def crowded() -> tuple[Incident, list[Alert]]:
    """Return an incident with as many firing members as the limit allows, and its alerts."""
    alerts = [an_alert(f"A{number}") for number in range(MOST)]
    incident = opened(alerts[0])
    for alert in alerts[1:]:
        incident = add_alert(incident, alert, GROUPING, NOON)
    return incident, alerts


def test_at_the_limit_a_resolved_member_makes_room_for_a_firing_one() -> None:
    incident, alerts = crowded()
    late = an_alert("Late")
    for alert in alerts:
        incident = add_alert(incident, resolved(alert, NOON + minutes(1)), GROUPING, NOON + minutes(1))

    crowded_one = add_alert(incident, late, GROUPING, NOON + minutes(1), most=MOST)
    incident = resolve_if_over(crowded_one, NOON + minutes(1))

    assert incident.is_open
    assert [member.name for member in incident.firing] == ["Late"]
    assert len(incident.members) == MOST


def test_at_the_limit_a_less_severe_member_makes_room_for_a_more_severe_one() -> None:
    incident, _alerts = crowded()

    incident = add_alert(
        incident, an_alert("Dead", severity="critical"), GROUPING, NOON + minutes(1), most=MOST
    )
    incident = add_alert(incident, an_alert("Mild"), GROUPING, NOON + minutes(2), most=MOST)

    assert incident.lead.name == "Dead"
    assert event_types(incident)[-1] == "severity_raised"
    assert len(incident.members) == MOST


def test_an_alert_without_a_summary_is_summarized_by_its_subject() -> None:
    assert summary_of(replace(an_alert(node="n"), annotations={})) == "GPUTemperatureHigh: n"
    assert (
        summary_of(replace(an_alert(colour="red"), annotations={}, own_subject=Subject()))
        == "GPUTemperatureHigh: red"
    )
    assert (
        summary_of(replace(an_alert(), annotations={"message": "an old rule's text"})) == "an old rule's text"
    )


steps = st.lists(
    st.tuples(st.sampled_from("AB"), st.booleans(), st.sampled_from(["info", "warning", "critical"])),
    max_size=30,
)


@given(steps)
def test_the_history_is_consistent(strip: list[tuple[str, bool, str]]) -> None:
    """For any sequence: numbers count up, it is open exactly while an alert fires, and each end follows a start."""
    incident = opened(an_alert("A"))
    for number, (name, fires, severity) in enumerate(strip, 1):
        now = NOON + timedelta(minutes=number)
        alert = an_alert(name, severity=severity, at=now)
        incident = resolve_if_over(
            add_alert(incident, alert if fires else resolved(alert, now), GROUPING, now), now
        )
        assert incident.is_open or not incident.firing
        assert incident.is_open == bool(incident.firing)

    assert [event.number for event in incident.events] == list(range(1, len(incident.events) + 1))
    transitions = [what for what in event_types(incident) if what in ("opened", "resolved", "reopened")]
    assert transitions[0::2] == ["opened", *["reopened"] * (len(transitions[0::2]) - 1)]
    assert set(transitions[1::2]) <= {IncidentEventType.RESOLVED.value}
    assert incident.group_key == "node/gpu-a01"


def test_a_long_history_keeps_its_first_and_newest_events() -> None:
    incident = opened(an_alert())
    for number in range(2, 1_000):
        incident = incident.with_event(IncidentEventType.ALERT_ADDED, NOON + minutes(number))

    assert len(incident.events) == MAX_EVENTS
    assert [event.number for event in incident.events[:3]] == [1, 801, 802]
    assert incident.events[-1].number == 999
