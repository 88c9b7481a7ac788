"""Incidents of a node whose GPU broke, or whose volume was formatted, and their cards."""

from collections.abc import Mapping
from dataclasses import replace

from alerts.alert import Alert
from alerts.cards.incident_card import incident_card
from alerts.cards.incident_context import IncidentContext
from alerts.cards.message import Message, Paragraph
from alerts.cards.text import plain
from alerts.incidents.grouping import GroupingContext, open_incident, resolve_if_over
from alerts.incidents.incident import Incident
from alerts.rules import Rule
from collectors.facts.queries import LogQuery
from tests.support.alerting import NOON, a_rule, a_topology, an_alert, minutes, resolved
from tests.support.grouping import add_alert
from tests.support.log_matches import message


def logged(name: str, **fields: object) -> Rule:
    rule = a_rule(name)
    template = replace(rule.template, **fields)  # type: ignore[arg-type]
    return replace(rule, query=LogQuery(match=message("x"), by=("node",), over=minutes(5)), template=template)


XID, FELL = a_rule("GPUXIDError"), logged("GPUFellOffBusLogged")
RULES = {rule.id: rule for rule in (XID, FELL)}
XID_ALERT = an_alert(
    "GPUXIDError", severity="critical", summary="GPU 3 on gpu-a01 reported XID 79.", gpu="3", node="gpu-a01"
)
FELL_ALERT = replace(
    an_alert("GPUFellOffBusLogged", severity="critical", at=NOON + minutes(1)),
    annotations={
        "summary": "A GPU on gpu-a01 has fallen off the bus.",
        "description": "A reset does not recover it.",
    },
)


def incident_of(*alerts: Alert, rules: Mapping[str, Rule] = RULES) -> Incident:
    incident = open_incident("i1", alerts[0], channels=("C1",), now=NOON)
    return after(incident, *alerts, rules=rules)


def after(incident: Incident, *alerts: Alert, rules: Mapping[str, Rule] = RULES) -> Incident:
    grouping = GroupingContext(rules=rules, topology=a_topology())
    for alert in alerts:
        incident = add_alert(incident, alert, grouping, alert.life.resolved_at or alert.life.since)
    return resolve_if_over(incident, NOON + minutes(20))


def shown(incident: Incident, context: IncidentContext | None = None) -> Message:
    return incident_card(incident, context=context or IncidentContext(rules=RULES), now=NOON)


def words(incident: Incident, context: IncidentContext | None = None) -> str:
    card = shown(incident, context)
    return "\n".join([plain(card.title), *(plain(b.text) for b in card.blocks if isinstance(b, Paragraph))])


FORMATTED = logged(
    "VolumeFormatted",
    worse_after=("VolumeUnmapFailed",),
    actions=("training stop {training}", "node cordon {node}"),
)
UNMAP = logged("VolumeUnmapFailed")
STORAGE = {rule.id: rule for rule in (FORMATTED, UNMAP)}


def formatted(device: str = "/dev/rbd1") -> Alert:
    alert = an_alert("VolumeFormatted", severity="info", node="gpu-a01", device=device, at=NOON + minutes(2))
    annotations = {
        "summary": "gpu-a01 is formatting a volume.",
        "worse_summary": f"DATA LOSS on gpu-a01: {device} was formatted.",
        "worse_description": "Write nothing more.",
    }
    return replace(alert, annotations=annotations)


def unmap(**labels: str) -> Alert:
    return an_alert("VolumeUnmapFailed", summary="It cannot unmap.", on={"node": "gpu-a01", **labels})


def over(incident: Incident) -> Incident:
    return after(incident, *(resolved(alert, NOON + minutes(12)) for alert in (XID_ALERT,)))
