"""Alerts about XIDs, by number and GPU, and what is suggested for their incident."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from alerts.alert import Alert
from alerts.cards.suggested_actions import suggestions
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from alerts.rules import Rule
from collectors.facts.queries import LogQuery
from tests.support.alerting import NOON, a_rule, a_topology, an_alert, minutes
from tests.support.grouping import add_alert
from tests.support.log_matches import message

CORDON, SHOW = "node cordon {node} --reason x", "training show {training}"
COUNTED = a_rule("GPUXIDError", actions=(CORDON, SHOW))
LOGGED = replace(
    a_rule("GPUXIDLogged", actions=(CORDON, SHOW)),
    query=LogQuery(match=message("x"), by=("node",), over=minutes(5), extract="(?P<xid>x)"),
)
RULES: dict[str, Rule] = {rule.id: rule for rule in (COUNTED, LOGGED)}
SEVERITY = {
    79: "critical",
    48: "critical",
    95: "critical",
    119: "critical",
    31: "info",
    45: "info",
    43: "info",
}


def counted(number: int, *, gpu: str = "3", node: str = "gpu-a01", after: float = 0) -> Alert:
    return an_alert(
        "GPUXIDError",
        severity=SEVERITY.get(number, "warning"),
        at=NOON + timedelta(seconds=after),
        summary=f"GPU {gpu} on {node} reported XID {number}.",
        on={"node": node, "gpu": gpu, "xid": str(number)},
    )


def logged(
    number: int, *, pci: str = "0000:5d:00", after: float = 0, class_: str = "", recovery: str = ""
) -> Alert:
    labels = {"class": class_, "recovery": recovery}
    return an_alert(
        "GPUXIDLogged",
        severity=SEVERITY.get(number, "warning"),
        at=NOON + timedelta(seconds=after),
        on={
            "node": "gpu-a01",
            "pci": pci,
            "xid": str(number),
            **{name: text for name, text in labels.items() if text},
        },
    )


def suggested(incident: Incident, rules: Mapping[str, Rule]) -> tuple[str, ...]:
    return tuple(one.line for one in suggestions(incident, rules))


def incident_of(*alerts: Alert) -> Incident:
    incident = open_incident("i1", alerts[0], channels=("C1",), now=NOON)
    for alert in alerts:
        grouping = GroupingContext(rules=RULES, topology=a_topology())
        incident = add_alert(incident, alert, grouping, alert.life.since)
    return incident
