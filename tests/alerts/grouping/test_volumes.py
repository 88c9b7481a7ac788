"""A formatted volume is named by what its incident's log lines say together, and so is the training that uses it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.alert import Alert
from alerts.cards.event_words import event_text
from alerts.cards.incident_card import incident_card
from alerts.cards.incident_context import IncidentContext
from alerts.cards.message import Buttons, ButtonStyle, Paragraph
from alerts.cards.text import plain
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from alerts.incidents.incident_book import Effects, IncidentBook
from alerts.rules import Severity
from collectors.facts.labels import Labels
from collectors.facts.stepwise import result_of
from collectors.facts.topology import ClaimFacts, Topology
from tests.alerts.packs.shipped import shipped_rules
from tests.support.alerting import NOON, a_topology, an_alert, minutes, resolved
from tests.support.grouping import add_alert
from tests.support.shipped_alerts import RULES, shipped_alert

UNMAP = {"device": "/dev/rbd1", "volume": "pvc-1"}
MOUNT = {"volume": "pvc-1", "claim": "vision/ckpt"}
DETR = ClaimFacts(name="vision/ckpt", trainings=("vision/detr",), writers=("vision/detr",))


def incident_of(topology: Topology, *, formatted: bool = True, **lines: dict[str, str]) -> Incident:
    """Return the incident of alerts of the shipped rules, by name, with the labels that each extracts."""
    incident = None
    last = {"VolumeFormatted": {"device": "/dev/rbd1"}} if formatted else {}
    for name, labels in {**lines, **last}.items():
        alert = shipped_alert(name, {"node": "gpu-a01", **labels}, topology=topology)
        incident = incident or open_incident("i1", alert, channels=("C1",), now=NOON)
        incident = add_alert(incident, alert, GroupingContext(rules=RULES, topology=topology), NOON)
    assert incident is not None
    return incident


def words(incident: Incident) -> str:
    card = incident_card(incident, context=IncidentContext(rules=RULES), now=NOON)
    return "\n".join([plain(card.title), *(plain(b.text) for b in card.blocks if isinstance(b, Paragraph))])


def claims(**named: ClaimFacts) -> Topology:
    return replace(a_topology(), claims={"vision/ckpt": DETR, **named})


def test_data_loss_names_the_volume_its_claim_and_its_training_and_offers_to_freeze_it_first() -> None:
    incident = incident_of(claims(), VolumeUnmapFailed=UNMAP, VolumeMountFailed=MOUNT)

    said = words(incident)
    assert said.startswith(
        "🔴 DATA LOSS on gpu-a01: /dev/rbd1 was formatted\nAffects: vision/detr 16 GPUs, ana\n"
    )
    assert "device /dev/rbd1, volume pvc-1, claim vision/ckpt." in said
    card = incident_card(incident, context=IncidentContext(rules=RULES), now=NOON)
    (row,) = [block for block in card.blocks if isinstance(block, Buttons)]
    freeze, stop = row.buttons[:2]
    assert freeze.line.startswith("volume freeze vision/ckpt --node gpu-a01 --reason ")
    assert (stop.line, stop.style) == ("training stop vision/detr --keep-namespace", ButtonStyle.DANGER)


def test_the_card_of_a_failed_unmap_offers_to_freeze_the_volume_and_affects_nobody_yet() -> None:
    incident = incident_of(claims(**{"pvc-1": DETR}), formatted=False, VolumeUnmapFailed=UNMAP)

    card = incident_card(incident, context=IncidentContext(rules=RULES), now=NOON)
    (row,) = [block for block in card.blocks if isinstance(block, Buttons)]
    assert row.buttons[0].label == "Freeze vision/ckpt"
    assert row.buttons[0].line.startswith("volume freeze vision/ckpt --node gpu-a01 --reason ")
    assert "Affects" not in words(incident)


def test_a_volume_that_no_line_names_is_not_offered_to_be_frozen() -> None:
    incident = incident_of(claims(), formatted=False, VolumeUnmapFailed={"device": "/dev/rbd1"})

    card = incident_card(incident, context=IncidentContext(rules=RULES), now=NOON)
    (row,) = [block for block in card.blocks if isinstance(block, Buttons)]
    assert row.buttons[0].label == "Cordon gpu-a01"


def test_the_claim_is_found_by_the_name_of_its_volume() -> None:
    incident = incident_of(claims(**{"pvc-1": DETR}), VolumeUnmapFailed=UNMAP)

    assert "Affects: vision/detr 16 GPUs, ana" in words(incident)


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param(ClaimFacts(name="vision/ckpt"), id="nothing mounts it"),
        pytest.param(replace(DETR, writers=()), id="one reads it, and nobody writes"),
        pytest.param(replace(DETR, trainings=("speech/asr", "vision/detr"), writers=()), id="two read it"),
        pytest.param(
            replace(DETR, trainings=("speech/asr", "vision/detr"), writers=("speech/asr", "vision/detr")),
            id="two write to it",
        ),
    ],
)
def test_a_training_that_may_be_another_is_not_offered_to_be_stopped(claim: ClaimFacts) -> None:
    topology = replace(a_topology(), claims={"vision/ckpt": claim})
    card = incident_card(
        incident_of(topology, VolumeUnmapFailed=UNMAP, VolumeMountFailed=MOUNT),
        context=IncidentContext(rules=RULES),
        now=NOON,
    )

    (row,) = [block for block in card.blocks if isinstance(block, Buttons)]
    assert not [one for one in row.buttons if one.line.startswith("training stop")]


def test_a_line_about_another_device_connects_nothing() -> None:
    other = {"device": "/dev/rbd7", "volume": "pvc-7"}
    topology = claims(**{"pvc-7": DETR})

    said = words(
        incident_of(topology, VolumeAboutToBeFormatted={"device": "/dev/rbd1"}, VolumeUnmapFailed=other)
    )

    assert said.startswith("🔴 DATA LOSS on gpu-a01: /dev/rbd1 was formatted")
    assert "vision/ckpt" not in said


def test_formatting_a_new_volume_loses_nothing() -> None:
    said = words(incident_of(claims(), VolumeUnmapFailed={"device": "/dev/rbd7"}))

    assert "DATA LOSS" not in said


def step(
    incident: Incident | None, name: str, minutes: int, topology: Topology, **labels: str
) -> Incident | None:
    """Return the incident after one alert of a shipped rule on gpu-a01; None while nothing opens one."""
    at = NOON + timedelta(minutes=minutes)
    alert = shipped_alert(name, {"node": "gpu-a01", **labels}, at=at, topology=topology)
    if incident is None and alert.severity is Severity.INFO:
        return None
    incident = incident or open_incident("i1", alert, channels=("C1",), now=at)
    return add_alert(incident, alert, GroupingContext(rules=RULES, topology=topology), at)


def test_the_danger_is_critical_before_the_volume_is_formatted_and_the_loss_leads_afterwards() -> None:
    """The steps of the loss: a reader's pod ends, an exporter holds its mount, the unmap fails, a writer is tried."""
    topology = claims(**{"pvc-1": DETR})
    incident = step(None, "VolumeHeldByPrivateMount", 0, topology)
    assert incident is None

    incident = step(incident, "VolumeUnmapFailed", 1, topology, **UNMAP)
    assert incident is not None
    assert incident.severity is Severity.WARNING

    incident = step(incident, "VolumeHeldByPrivateMount", 2, topology)
    incident = step(incident, "VolumeUnmapFailed", 1, topology, **UNMAP)
    assert incident is not None
    assert incident.severity is Severity.CRITICAL
    assert words(incident).startswith("🔴 DATA AT RISK on gpu-a01: a volume cannot be unmapped")

    incident = step(incident, "VolumeAboutToBeFormatted", 4, topology, device="/dev/rbd1")
    incident = step(incident, "VolumeFormatted", 6, topology, device="/dev/rbd1")
    assert incident is not None
    assert words(incident).startswith("🔴 DATA LOSS on gpu-a01: /dev/rbd1 was formatted")


def test_beside_a_loss_that_leads_another_loss_goes_before_the_dangers_that_led_to_it() -> None:
    topology = claims(**{"pvc-1": DETR})
    incident = step(None, "VolumeUnmapFailed", 1, topology, **UNMAP)
    for after, name in enumerate(("VolumeAboutToBeFormatted", "VolumeFormatted"), 2):
        incident = step(incident, name, after, topology, device="/dev/rbd1")
    claim = {"namespace": "vision", "persistentvolumeclaim": "ckpt"}
    incident = step(incident, "VolumeContentCollapsed", 6, topology, **claim)

    assert incident is not None
    (also,) = [line for line in words(incident).splitlines() if line.startswith("Also: ")]
    losses = ("Almost everything on vision/ckpt", "DATA LOSS on gpu-a01")
    assert also.removeprefix("Also: ").startswith(losses)


@pytest.mark.parametrize(
    "second",
    ["VolumeHeldByPrivateMount", "VolumeOnTwoNodes", "VolumeWriterWaiting", "VolumeAboutToBeFormatted"],
)
def test_a_failed_unmap_and_any_other_part_of_the_danger_are_critical(second: str) -> None:
    topology = claims()
    incident = step(None, "VolumeUnmapFailed", 1, topology, device="/dev/rbd1")
    incident = step(incident, second, 2, topology)
    incident = step(incident, "VolumeUnmapFailed", 1, topology, device="/dev/rbd1")

    assert incident is not None
    assert incident.severity is Severity.CRITICAL


def shrunk(name: str = "vision/ckpt") -> Alert:
    """Return that almost everything on a claim is gone."""
    namespace, _, claim = name.partition("/")
    rule = shipped_rules()["VolumeContentCollapsed"]
    alert = an_alert(
        rule.name, severity="critical", on={"namespace": namespace, "persistentvolumeclaim": claim}
    )
    return replace(alert, rule=rule.id)


def absorbed(alert: Alert, *incidents: Incident, book: IncidentBook | None = None) -> Effects:
    book = book or IncidentBook("prod-a", incidents=incidents)
    grouping = GroupingContext(rules=RULES, topology=claims(**{"pvc-1": DETR}), facts=None)
    return result_of(
        book.absorb([(alert, NOON)], grouping=grouping, channels_of=lambda _alert: ("C1",), now=NOON)
    )


def test_what_is_gone_from_a_volume_joins_the_incident_of_the_node_that_formatted_it() -> None:
    incident = incident_of(claims(**{"pvc-1": DETR}), VolumeUnmapFailed=UNMAP, VolumeMountFailed=MOUNT)

    effects = absorbed(shrunk(), incident)

    assert effects.opened == ()
    (joined,) = effects.changed.values()
    assert joined.lead.name == "VolumeFormatted"  # the worst that is known still leads
    assert joined.members[-1].name == "VolumeContentCollapsed"


@pytest.mark.parametrize(
    ("alert", "is_open"),
    [
        pytest.param(shrunk("speech/ckpt"), True, id="another volume"),
        pytest.param(shrunk(), False, id="the incident is over"),
    ],
)
def test_it_is_an_incident_of_its_own_elsewhere(alert: Alert, *, is_open: bool) -> None:
    incident = incident_of(claims(**{"pvc-1": DETR}), VolumeUnmapFailed=UNMAP, VolumeMountFailed=MOUNT)
    if not is_open:
        incident = replace(incident, resolved_at=NOON)

    (opened,) = absorbed(alert, incident).opened

    assert opened.group_key == f"volume/{alert.own_subject.volume}"


def of_volume_first() -> tuple[IncidentBook, Incident, Incident]:
    """Return a book in which the volume's incident was opened before that of the node."""
    (opened,) = absorbed(shrunk()).opened
    volume = replace(opened, id="i1")
    lines = incident_of(claims(**{"pvc-1": DETR}), VolumeUnmapFailed=UNMAP, VolumeMountFailed=MOUNT)
    node = replace(lines, id="i2")
    return IncidentBook("prod-a", incidents=(volume, node)), volume, node


def test_one_that_was_opened_before_the_node_is_known_is_over_once_it_is_and_its_alert_is_there() -> None:
    book, volume, node = of_volume_first()

    effects = absorbed(shrunk(), book=book)

    assert effects.opened == ()
    before, after = effects.changed[volume.id], effects.changed[node.id]
    assert not before.is_open
    assert [event.type.value for event in before.events[-2:]] == ["joined", "resolved"]
    assert "it is a part of incident i2" in plain(event_text(before, before.events[-1]))
    assert after.lead.name == "VolumeFormatted"
    assert after.members[-1].name == "VolumeContentCollapsed"


def test_its_alert_ends_where_it_is_now_also_after_a_restart() -> None:
    book, volume, node = of_volume_first()
    moved = absorbed(shrunk(), book=book).changed
    again = IncidentBook("prod-a", incidents=(moved[node.id], moved[volume.id]))

    effects = absorbed(resolved(shrunk(), NOON + minutes(5)), book=again)

    assert list(effects.changed) == [node.id]
    assert not effects.changed[node.id].members[-1].is_firing


def test_another_alert_of_the_volume_that_was_not_seen_yet_moves_later() -> None:
    _, volume, node = of_volume_first()
    other = replace(shrunk(), rule="site/Other", labels=Labels({**shrunk().labels, "alertname": "Other"}))
    (twice,) = absorbed(other, volume).changed.values()
    book = IncidentBook("prod-a", incidents=(twice, node))

    half = absorbed(shrunk(), book=book).changed
    assert half["i1"].is_open
    book.apply({"incidents": half})
    whole = absorbed(other, book=book).changed

    assert not whole["i1"].is_open
    assert {one.name for one in whole["i2"].firing} >= {"VolumeContentCollapsed", "Other"}
    assert "VolumeContentCollapsed" not in {one.name for one in whole["i1"].firing}
