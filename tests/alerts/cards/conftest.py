"""An incident about a hot GPU, and what its card shows."""

from dataclasses import replace

from alerts.cards.incident_card import incident_card
from alerts.cards.incident_context import IncidentAction, IncidentContext
from alerts.cards.message import Buttons, Message, Paragraph
from alerts.cards.text import plain
from alerts.incidents.grouping import GroupingContext, open_incident, resolve_if_over
from alerts.incidents.incident import Incident
from tests.support.alerting import NOON, a_rule, a_topology, an_alert, minutes, resolved
from tests.support.grouping import add_alert

ACTIONS = ('node cordon {node} --reason "GPU hot"', "training show {training}", "node show {node}")
RULE = a_rule(actions=ACTIONS, runbook="gpu-temperature-high")
RULES = {RULE.id: RULE}
GROUPING = GroupingContext(rules=RULES, topology=a_topology())
CONTEXT = IncidentContext(rules=RULES, people={"ana": "U7"}, runbooks="https://books/")
DONE = IncidentAction(plan="p1", line="node cordon gpu-a01", who="U1", who_name="Dana", state="done")
FIX = replace(DONE, plan="p2", line="fans on", relieves=("GPUTemp*",))


def incident(*, severity: str = "warning", summary: str = "GPU 3 is hot: 91 °C.", **labels: str) -> Incident:
    alert = an_alert(severity=severity, summary=summary, on=labels or {"node": "gpu-a01", "gpu": "3"})
    return add_alert(open_incident("i7", alert, channels=("C1", "C2"), now=NOON), alert, GROUPING, NOON)


def ended(one: Incident) -> Incident:
    (member,) = one.members
    resolved_alerts = replace(one, members=(replace(member, state=resolved(an_alert(), NOON).life.state),))
    return resolve_if_over(resolved_alerts, NOON + minutes(12))


def card_of(one: Incident, context: IncidentContext = CONTEXT) -> Message:
    return incident_card(one, context=context, now=NOON)


def lines(shown: Message) -> list[str]:
    return [plain(shown.title), *(plain(b.text) for b in shown.blocks if isinstance(b, Paragraph))]


def buttons(shown: Message) -> dict[str, str]:
    return {b.label: b.line for block in shown.blocks if isinstance(block, Buttons) for b in block.buttons}
