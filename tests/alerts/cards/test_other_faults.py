"""Independent faults of one component do not hide each other: the worst leads, and the title counts the others."""

import pytest

from alerts.alert import Alert
from alerts.cards.headline import headline
from alerts.cards.incident_card import incident_card
from alerts.cards.text import plain
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from tests.support.alerting import NOON, a_topology, an_alert, minutes, resolved
from tests.support.grouping import add_alert
from tests.support.shipped_alerts import RULES, shipped_alert

CONTEXT = GroupingContext(rules=RULES, topology=a_topology())

SLOW = shipped_alert("CephMDSSlow", {"name": "MDS_TRIM"})
FLAPS = shipped_alert("CephOSDFlapping", {"ceph_daemon": "osd.3"}, at=NOON + minutes(1))
FULL = shipped_alert("CephSpaceNearFull", {"name": "POOL_NEAR_FULL"}, at=NOON + minutes(2))


def incident_of(*alerts: Alert) -> Incident:
    incident = open_incident("i1", alerts[0], channels=("C1",), now=NOON)
    for alert in alerts:
        incident = add_alert(incident, alert, CONTEXT, NOON + minutes(3))
    return incident


@pytest.mark.parametrize(
    "alerts",
    [pytest.param((SLOW, FLAPS, FULL), id="last"), pytest.param((FULL, SLOW, FLAPS), id="first")],
)
def test_what_will_cost_work_leads_and_the_others_are_counted(alerts: tuple[Alert, ...]) -> None:
    card = incident_card(incident_of(*alerts), now=NOON + minutes(3))

    assert plain(card.title) == "🟠 Ceph is nearly full: POOL_NEAR_FULL, and 2 other alerts"


def test_one_that_is_over_is_not_counted() -> None:
    incident = add_alert(
        incident_of(SLOW, FULL), resolved(SLOW, NOON + minutes(5)), CONTEXT, NOON + minutes(5)
    )
    assert headline(incident) == "Ceph is nearly full: POOL_NEAR_FULL"


def test_two_of_one_rule_are_one_fault() -> None:
    other = shipped_alert("CephSpaceNearFull", {"name": "OSD_NEARFULL"}, at=NOON + minutes(2))
    assert "other alert" not in headline(incident_of(FULL, other))


def test_what_follows_from_a_broken_node_is_not_counted() -> None:
    """The alerts of a node are mostly one fault, which its lead names."""
    down = an_alert("KubeNodeNotReady", severity="critical", summary="gpu-a01 is not ready.")
    lost = an_alert("NodeTargetDown", summary="gpu-a01 has no metrics.")
    assert headline(incident_of(down, lost)) == "gpu-a01 is not ready"
