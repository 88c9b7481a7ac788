"""Resolved cards about XIDs keep their numbers: those are what somebody looks up."""

import pytest

from alerts.alert import Alert
from alerts.cards.headline import headline
from alerts.incidents.grouping import GroupingContext, open_incident, resolve_if_over
from alerts.incidents.incident import Incident
from alerts.rules import ResolveWhen
from tests.support.alerting import NOON, a_topology, minutes, resolved
from tests.support.grouping import add_alert
from tests.support.shipped_alerts import RULES, shipped_alert

CONTEXT = GroupingContext(rules=RULES, topology=a_topology())


def an_xid(number: str, value: float) -> Alert:
    """A warning or less: no proof is needed for its end."""
    on = {"Hostname": "gpu-a01", "node": "gpu-a01", "gpu": "3", "UUID": "GPU-1", "xid": number}
    return shipped_alert("GPUXIDError", on, severity="warning", value=value)


def over(*alerts: Alert) -> Incident:
    incident = open_incident("i1", alerts[0], channels=("C1",), now=NOON)
    for alert in alerts:
        incident = add_alert(incident, alert, CONTEXT, NOON)
    for alert in alerts:
        incident = add_alert(incident, resolved(alert, NOON + minutes(5)), CONTEXT, NOON + minutes(5))
    return resolve_if_over(incident, NOON + minutes(5))


@pytest.mark.parametrize(
    ("alerts", "said"),
    [
        pytest.param((an_xid("13", 1),), "GPU 3 on gpu-a01 reported XID 13", id="one"),
        pytest.param((an_xid("13", 1), an_xid("31", 9)), "GPU 3 on gpu-a01 reported XID 13 and 31", id="two"),
    ],
)
def test_a_resolved_card_keeps_the_numbers(alerts: tuple[Alert, ...], said: str) -> None:
    incident = over(*alerts)
    assert incident.resolve_when is not ResolveWhen.ACKNOWLEDGED
    assert not incident.is_open
    assert headline(incident) == said
