"""Advice about XIDs: alone, and beside others of the same GPU."""

from collections.abc import Iterable

import pytest

from alerts.alert import Alert
from alerts.cards.headline import headline
from alerts.incidents import xid_advice
from alerts.incidents.incident import Member
from alerts.incidents.xid_advice import decided
from collectors.facts.xid_catalogue import Recovery
from tests.alerts.grouping.xids import RULES, counted, incident_of, logged, suggested
from tests.support.alerting import a_rule, an_alert


@pytest.mark.parametrize(
    ("alerts", "expected"),
    [
        pytest.param([counted(79)], Recovery.RESTART_NODE, id="alone"),
        pytest.param([counted(48), counted(31)], Recovery.RESET_GPU, id="the worst of a burst"),
        pytest.param([counted(48), counted(79)], Recovery.RESTART_NODE, id="a cold restart is worse"),
        pytest.param([counted(45), counted(43)], Recovery.NOTHING, id="only consequences"),
        pytest.param([counted(94), counted(48)], Recovery.RESET_GPU, id="94 beside 48"),
        pytest.param([counted(45), counted(31)], Recovery.RESTART_APPLICATION, id="45 beside 31"),
        pytest.param(
            [logged(48), logged(154, after=1, recovery="Node Reboot Required")],
            Recovery.RESTART_NODE,
            id="the driver wants more than the table",
        ),
        pytest.param(
            [counted(48), logged(48), logged(154, after=1, recovery="None")],
            Recovery.NOTHING,
            id="the driver wants less, also than the counter of the same number",
        ),
        pytest.param(
            [logged(154, recovery="None"), logged(79, after=1)],
            Recovery.RESTART_NODE,
            id="what the driver said before the error is old",
        ),
        pytest.param(
            [logged(154, recovery="None", pci="0000:18:00"), logged(48)],
            Recovery.RESET_GPU,
            id="what the driver says of another GPU",
        ),
        pytest.param([logged(149, class_="Nonfatal")], Recovery.NOTHING, id="an error that is not fatal"),
    ],
)
def test_the_action_that_wins(alerts: list[Alert], expected: Recovery) -> None:
    assert decided(incident_of(*alerts).members) is expected
    assert decided(reversed(incident_of(*alerts).members)) is expected


def test_no_xid_decides_nothing() -> None:
    assert decided(incident_of(an_alert("GPUTemperatureHigh")).members) is None


@pytest.mark.parametrize(
    ("number", "is_offered"), [(79, True), (48, True), (109, True), (31, False), (45, False), (63, False)]
)
def test_a_cordon_is_offered_where_the_node_must_be_emptied(number: int, is_offered: bool) -> None:
    offered = suggested(incident_of(counted(number)), RULES)
    assert ("node cordon gpu-a01 --reason x" in offered) is is_offered


def test_a_consequence_beside_the_cause_does_not_take_the_cordon_away() -> None:
    both = incident_of(counted(45), counted(79))
    assert "node cordon gpu-a01 --reason x" in suggested(both, RULES)
    assert headline(both) == "GPU 3 on gpu-a01 reported XID 79 (+1 more)"


def test_what_the_xids_of_a_node_call_for_is_decided_once(monkeypatch: pytest.MonkeyPatch) -> None:
    decided_for: list[int] = []

    def counting(members: Iterable[Member]) -> Recovery | None:
        decided_for.append(len(found := list(members)))
        return decided(found)

    many = incident_of(*(counted(13, gpu=str(gpu)) for gpu in range(8)))
    monkeypatch.setattr(xid_advice, "decided", counting)

    suggested(many, RULES)

    assert decided_for == [8]


def test_another_alert_of_the_node_keeps_its_cordon() -> None:
    missing = a_rule("GPUMissing", actions=("node cordon {node} --reason missing",))
    both = incident_of(counted(31), an_alert("GPUMissing", severity="critical"))
    assert suggested(both, {**RULES, missing.id: missing}) == ("node cordon gpu-a01 --reason missing",)


def test_the_card_says_what_the_number_means_and_calls_for() -> None:
    (member,) = incident_of(counted(79)).members
    assert member.description == (
        "XID 79: the GPU has fallen off the bus. "
        "Cordon the node, drain it, and power it off and on: a reset does not recover the GPU."
    )
    (unknown,) = incident_of(counted(999)).members
    assert unknown.description.startswith("XID 999: a number that NVIDIA does not describe.")


def test_what_calls_for_more_leads() -> None:
    both = incident_of(counted(48), counted(79, gpu="5", after=30))
    assert headline(both) == "GPU 5 on gpu-a01 reported XID 79 (+1 more)"


@pytest.mark.parametrize("text", ["", "79a", "-1", "१२", "123456"])
def test_a_label_that_is_not_a_number_is_not_an_xid(text: str) -> None:
    (member,) = incident_of(an_alert("GPUXIDError", on={"node": "gpu-a01", "xid": text})).members
    assert (member.xid, member.recovery) == (0, None)


def test_a_consequence_on_another_node_offers_no_cordon_of_that_node() -> None:
    together = incident_of(counted(79), counted(45, node="gpu-a02"))
    assert "node cordon gpu-a01 --reason x" in suggested(together, RULES)
    assert "node cordon gpu-a02 --reason x" not in suggested(together, RULES)
