"""The proof `accepted`: a node that passed its tests after a GPU's fault began ends the incident that waits."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from alerts.cards.proof_text import what_proved
from alerts.cards.text import plain
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from alerts.incidents.proofs_of_actions import prove_accepted
from alerts.lifecycle import AlertState
from alerts.rules import Proof
from collectors.facts.labels import Labels
from collectors.facts.topology import Topology
from tests.support.grouping import add_alert
from tests.support.rows import NOON, an_alert

MINUTE = timedelta(minutes=1)


def waiting(
    name: str = "GPUXIDError", proofs: tuple[Proof, ...] = (Proof.GPUS_ALLOCATABLE,), *, is_over: bool = True
) -> Incident:
    """Return an incident whose alert is over, and which waits for a proof."""
    alert = an_alert("gpu-a04")
    alert = replace(alert, labels=Labels({**alert.labels, "alertname": name}))
    incident = open_incident("i1", alert, channels=("C1",), now=NOON)
    incident = add_alert(incident, alert, GroupingContext(rules={}, topology=Topology(cluster="lab")), NOON)
    (member,) = incident.members
    if is_over:
        member = replace(member, state=AlertState.RESOLVED, resolved_at=NOON + MINUTE)
    return replace(incident, members=(replace(member, proofs=proofs),))


def test_a_pass_after_the_fault_began_ends_what_waits_for_a_proof() -> None:
    incident = waiting()
    assert incident.unproven
    proven = prove_accepted(incident, node="gpu-a04", since=NOON + 5 * MINUTE, now=NOON + 40 * MINUTE)
    assert not proven.unproven
    assert plain(what_proved(proven)).startswith("gpu-a04 had passed its tests (")


@pytest.mark.parametrize(
    ("incident", "node", "since"),
    [
        (waiting(), "gpu-a04", NOON - MINUTE),
        (waiting(), "gpu-a05", NOON + MINUTE),
        (waiting(is_over=False), "gpu-a04", NOON + MINUTE),
        (waiting("CephVolumeStuck", (Proof.VOLUME_MOUNTED,)), "gpu-a04", NOON + MINUTE),
    ],
    ids=["tested before the fault", "another node", "the alert still fires", "a volume's fault"],
)
def test_what_a_test_says_nothing_of_is_not_proved(incident: Incident, node: str, since: datetime) -> None:
    assert prove_accepted(incident, node=node, since=since, now=NOON + 40 * MINUTE) is incident


def test_a_rule_may_ask_for_a_test() -> None:
    incident = waiting("NodeUnstable", (Proof.ACCEPTED,))
    proven = prove_accepted(incident, node="gpu-a04", since=NOON + MINUTE, now=NOON + 40 * MINUTE)
    assert not proven.unproven
