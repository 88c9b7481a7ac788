"""The proof `repaired`: an action that relieves the alert, and has checked what it did, ends its incident."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from alerts.cards.proof_text import waits_for, what_proved
from alerts.cards.text import plain
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from alerts.incidents.proofs import ProofFacts, with_proofs
from alerts.incidents.proofs_of_actions import note_repair
from alerts.lifecycle import AlertState
from alerts.rules import Rule
from collectors.facts.topology import Topology
from tests.support.alerting import an_alert, resolved
from tests.support.grouping import add_alert
from tests.support.proofs import a_rule_with
from tests.support.rows import NOON

MINUTE = timedelta(minutes=1)
ALERT = replace(
    an_alert("NVIDIAUVMMissing", severity="critical", on={"node": "gpu-a04"}),
    annotations={"summary": "It is missing.", "proof": "repaired"},
    value=2.0,
)
RULE: Rule = replace(a_rule_with("repaired"), id=ALERT.rule, name=ALERT.name)
GROUPING = GroupingContext(rules={ALERT.rule: RULE}, topology=Topology(cluster="lab"))


def firing() -> Incident:
    incident = open_incident("i1", ALERT, channels=("C1",), now=NOON)
    return add_alert(incident, ALERT, GROUPING, NOON)


def repaired(
    incident: Incident, at: datetime, *, node: str = "gpu-a04", relieves: str = "NVIDIAUVMMissing"
) -> Incident:
    return note_repair(incident, nodes={node}, relieves=(relieves,), now=at)


def ended(incident: Incident, at: datetime = NOON + 20 * MINUTE) -> Incident:
    return with_proofs(add_alert(incident, resolved(ALERT, at), GROUPING, at), ProofFacts(), at + MINUTE)


def test_a_repair_while_the_alert_fires_proves_it_over_once_it_ends() -> None:
    incident = with_proofs(repaired(firing(), NOON + 3 * MINUTE), ProofFacts(), NOON + 4 * MINUTE)
    assert incident.unproven, "the alert still fires"
    assert plain(waits_for(incident)).startswith("Stays open until the alert ends: gpu-a04 was repaired (")

    over = ended(incident)
    assert not over.unproven
    assert plain(what_proved(over)).startswith("gpu-a04 was repaired (")


def test_before_a_repair_the_card_says_that_it_waits_for_one() -> None:
    assert plain(waits_for(firing())).startswith("Stays open until a repair of gpu-a04 has worked, or ")
    assert ended(firing()).unproven


def test_a_repair_after_the_alert_ended_proves_it_over() -> None:
    waiting = ended(firing())
    proven = with_proofs(repaired(waiting, NOON + 30 * MINUTE), ProofFacts(), NOON + 31 * MINUTE)
    assert not proven.unproven


@pytest.mark.parametrize(
    ("node", "relieves"), [("gpu-a05", "NVIDIAUVMMissing"), ("gpu-a04", "NVSwitchFabricFailed")]
)
def test_what_was_done_elsewhere_or_for_something_else_proves_nothing(node: str, relieves: str) -> None:
    incident = repaired(firing(), NOON + 3 * MINUTE, node=node, relieves=relieves)
    assert incident == firing()


def test_lines_of_before_may_come_late_and_later_ones_say_that_the_repair_did_not_help() -> None:
    more = replace(ALERT, value=5.0)
    incident = repaired(firing(), NOON + 3 * MINUTE)
    late = add_alert(incident, more, GROUPING, NOON + 4 * MINUTE)
    assert not ended(late).unproven
    again = add_alert(incident, more, GROUPING, NOON + 9 * MINUTE)
    assert ended(again).unproven


def test_a_rule_that_asks_for_no_repair_is_not_ended_by_one() -> None:
    rule = a_rule_with("node-rebooted")
    grouping = replace(GROUPING, rules={ALERT.rule: replace(rule, id=ALERT.rule, name=ALERT.name)})
    alert = replace(ALERT, annotations={**ALERT.annotations, "proof": "node-rebooted"})
    incident = add_alert(open_incident("i1", alert, channels=("C1",), now=NOON), alert, grouping, NOON)
    assert all(one.state is AlertState.FIRING for one in incident.members)
    assert repaired(incident, NOON + MINUTE) == incident
