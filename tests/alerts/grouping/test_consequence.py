"""The worst alert, which leads until it is proven over, whatever fires later; and when a severity counts as raised."""

from dataclasses import replace

import pytest

from alerts.alert import Alert
from alerts.cards.headline import headline
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from alerts.incidents.members import member_of
from alerts.incidents.proofs import ProofFacts, say_over, with_proofs
from alerts.rules import Consequence, Severity
from collectors.facts.topology import ClaimFacts
from tests.alerts.packs.shipped import shipped_rules
from tests.support.alerting import NOON, a_rule, a_topology, an_alert, minutes, resolved
from tests.support.grouping import add_alert
from tests.support.shipped_alerts import RULES, shipped_alert

GROUPING = GroupingContext(rules=RULES, topology=a_topology())
LOST = "DATA LOSS on gpu-a01"


def line(name: str, minute: float, **labels: str) -> Alert:
    """Return the alert of a shipped rule about gpu-a01."""
    said = shipped_rules()[name].template.labels["severity"]
    severity = "critical" if "{{" in said else said
    return shipped_alert(name, {"node": "gpu-a01", **labels}, severity=severity, at=NOON + minutes(minute))


def after(incident: Incident | None, *alerts: Alert) -> Incident:
    for alert in alerts:
        incident = incident or open_incident("i1", alert, channels=("C1",), now=alert.life.since)
        incident = add_alert(incident, alert, GROUPING, alert.life.resolved_at or alert.life.since)
    assert incident is not None
    return incident


UNMAP = line("VolumeUnmapFailed", 0, device="/dev/rbd1")
FORMATTED = line("VolumeFormatted", 1, device="/dev/rbd1")
WAITING = line("VolumeWriterWaiting", 0)
LATER = (
    line("VolumeUnmapFailed", 20, device="/dev/rbd9"),
    line("VolumeAboutToBeFormatted", 20, device="/dev/rbd1"),
    line("VolumeProbeFailed", 20, device="/dev/rbd1"),
    line("VolumeOnTwoNodes", 20),
    line("GPUFellOffBusLogged", 20),
)


def types(incident: Incident) -> list[str]:
    return [event.type.value for event in incident.events]


@pytest.mark.parametrize(
    "loss", [FORMATTED, line("VolumeReformatted", 1, history="mounted")], ids=lambda it: it.name
)
@pytest.mark.parametrize("later", LATER, ids=lambda it: it.name)
@pytest.mark.parametrize("is_over", [False, True], ids=["still logged", "no longer logged"])
def test_a_loss_leads_whatever_fires_later(loss: Alert, later: Alert, is_over: bool) -> None:
    lost = after(None, UNMAP, WAITING, loss)
    lost = after(lost, resolved(loss, NOON + minutes(16))) if is_over else lost
    assert headline(lost).startswith(LOST)

    assert headline(after(lost, later)).startswith(LOST)


def test_a_loss_stays_one_once_what_led_to_it_is_proven_over() -> None:
    lost = after(None, UNMAP, FORMATTED, resolved(UNMAP, NOON + minutes(5)))
    said = say_over(lost, who="U1", now=NOON + minutes(6))
    assert said.unproven, "the loss still fires, so nobody's word ends it"

    again = after(said, FORMATTED, resolved(FORMATTED, NOON + minutes(16)))

    assert headline(again).startswith(LOST)
    assert again.severity is Severity.CRITICAL
    assert again.is_only_unproven


def test_a_loss_no_longer_leads_once_somebody_says_that_it_is_over() -> None:
    lost = after(None, UNMAP, FORMATTED, resolved(FORMATTED, NOON + minutes(16)))

    over = say_over(lost, who="U1", now=NOON + minutes(17))

    assert not headline(over).startswith(LOST)


def test_what_is_at_risk_and_then_lost_is_said_to_be_worse_and_not_raised_twice() -> None:
    risk = after(None, UNMAP, WAITING, UNMAP)
    assert types(risk)[-1] == "severity_raised", "a warning became critical"

    lost = after(risk, FORMATTED)
    both = after(lost, line("VolumeReformatted", 2, history="mounted"), *LATER)

    assert types(lost)[-1] == "worsened"
    assert [type for type in types(both) if type in ("worsened", "severity_raised")] == [
        "severity_raised",
        "worsened",
    ]


def test_a_silence_of_what_is_at_risk_does_not_cover_its_loss() -> None:
    risk = after(None, UNMAP, WAITING, UNMAP)

    assert risk.gravity < after(risk, FORMATTED).gravity


def test_a_milder_alert_that_is_proven_over_changes_no_lead() -> None:
    claim = ClaimFacts(name="vision/ckpt", trainings=("vision/detr",), waiting={"vision/detr-0": "gpu-a01"})
    unmap = line("VolumeUnmapFailed", 0, device="/dev/rbd1", volume="pvc-1")
    lost = after(None, unmap, line("VolumeMountFailed", 0, volume="pvc-1", claim="vision/ckpt"), FORMATTED)
    waits = replace(a_topology(), claims={"vision/ckpt": claim})
    runs = replace(waits, claims={"vision/ckpt": replace(claim, waiting={}, running=("vision/detr-0",))})
    lost = with_proofs(lost, ProofFacts(topology=waits), NOON + minutes(2))
    lost = after(lost, resolved(unmap, NOON + minutes(16)))

    proven = with_proofs(lost, ProofFacts(topology=runs), NOON + minutes(17))
    assert [member.name for member in proven.members if member.proven] == ["VolumeUnmapFailed"]

    assert headline(after(proven, FORMATTED)).startswith(LOST)


def test_a_volume_that_is_about_to_be_formatted_is_in_danger() -> None:
    """A milder alert of the same node may be critical too: it does not lead."""
    near = after(
        None, line("GPUFellOffBusLogged", 0), line("VolumeAboutToBeFormatted", 1, device="/dev/rbd1")
    )

    assert headline(near).startswith("gpu-a01 cannot read a volume's file system")
    assert near.gravity > after(None, line("GPUFellOffBusLogged", 0)).gravity


@pytest.mark.parametrize(
    ("consequence", "said"),
    [(None, "It was odd."), (Consequence.DANGER, "It was odd."), (Consequence.LOSS, "")],
)
def test_what_is_said_once_something_worse_is_over(consequence: Consequence | None, said: str) -> None:
    """A loss stays one; anything else was."""
    rule = a_rule("Odd")
    rule = replace(rule, template=replace(rule.template, consequence=consequence, worse_after=("Other",)))
    annotations = {
        "summary": "It is odd.",
        "worse_summary": "It is worse.",
        "resolved_headline": "It was odd.",
    }
    alert = replace(an_alert("Odd", on={"node": "gpu-a01"}), rule=rule.id, annotations=annotations)

    member = member_of(alert, rule, is_worse=True)

    assert member.summary == "It is worse."
    assert member.resolved_headline == said
