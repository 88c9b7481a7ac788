"""Advice about XIDs: alone, beside others of the same GPU, and on all nodes of one training at once."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.alert import Alert
from alerts.cards.headline import headline
from alerts.cards.suggested_actions import suggestions
from alerts.incidents import xid_advice
from alerts.incidents.events import IncidentEventType
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident, Member
from alerts.incidents.incident_book import Effects, IncidentBook
from alerts.incidents.xid_advice import decided
from alerts.rules import Rule
from collectors.facts.queries import LogQuery
from collectors.facts.stepwise import result_of
from collectors.facts.topology import Topology, TrainingFacts
from collectors.facts.xid_catalogue import Recovery
from tests.support.alerting import CLUSTER, NOON, a_rule, a_topology, an_alert, minutes
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


NODES = ("gpu-a01", "gpu-a02", "gpu-a03")


def topology(*nodes: str, failed: bool = False) -> Topology:
    facts = TrainingFacts(
        id="vision/detr",
        owner="ana",
        gpus=24,
        nodes=nodes or NODES,
        failed_at=NOON + minutes(1) if failed else None,
        failure="worker 0 failed",
    )
    alone = TrainingFacts(id="speech/asr", owner="bo", gpus=8, nodes=("gpu-a01",))
    known = a_topology()
    return replace(known, trainings={"speech/asr": alone, facts.id: facts}, pods_on={})


def absorbed(*alerts: Alert, known: Topology | None = None) -> tuple[Effects, ...]:
    """Return the effects of the alerts, each in a cycle of its own."""
    book = IncidentBook(CLUSTER)
    grouping = GroupingContext(rules=RULES, topology=known or topology())
    found = []
    for count, alert in enumerate(alerts):
        effects = proposed(book, grouping, alert)
        effects = effects.numbered([f"i{count}"] if effects.opened else [])
        book.apply({"incidents": {one.id: one for one in effects.incidents}})
        found.append(effects)
    return tuple(found)


def proposed(book: IncidentBook, grouping: GroupingContext, *alerts: Alert) -> Effects:
    """Return the effects of the alerts in one cycle, which begins with the last of them."""
    now = alerts[-1].life.since
    updates = [(alert, alert.life.since) for alert in alerts]
    return result_of(book.absorb(updates, grouping=grouping, channels_of=lambda _: ("C1",), now=now))


def incidents(*alerts: Alert, known: Topology | None = None) -> list[Incident]:
    """Return the incidents after the alerts, the first opened one first."""
    found: dict[str, Incident] = {}
    for effects in absorbed(*alerts, known=known):
        found.update((one.id, one) for one in effects.incidents)
    return list(found.values())


def everywhere(number: int) -> list[Alert]:
    return [counted(number, node=node, after=20 * place) for place, node in enumerate(NODES)]


def test_the_same_xid_on_all_nodes_of_a_training_is_one_crash_without_a_cordon() -> None:
    (crash,) = incidents(*everywhere(119))

    assert crash.crash_of == crash.subject.training == "vision/detr"
    assert crash.subject.owner == "ana"
    assert not crash.subject.node
    assert headline(crash) == "vision/detr crashed: XID 119 on all of its nodes"
    assert suggested(crash, RULES) == ("training show vision/detr",)


def test_in_one_cycle_it_is_one_incident_too() -> None:
    effects = result_of(
        IncidentBook(CLUSTER).absorb(
            [(alert, NOON) for alert in everywhere(119)],
            grouping=GroupingContext(rules=RULES, topology=topology()),
            channels_of=lambda _alert: ("C1",),
            now=NOON,
        )
    )
    assert [one.crash_of for one in effects.opened] == ["vision/detr"]


def test_before_the_last_node_reports_the_nodes_may_be_cordoned() -> None:
    (shared,) = incidents(*everywhere(119)[:2])

    assert not shared.crash_of
    assert set(suggested(shared, RULES)) == {
        "node cordon gpu-a01 --reason x",
        "node cordon gpu-a02 --reason x",
    }


def test_an_xid_of_hardware_is_about_each_node() -> None:
    found = incidents(*everywhere(79))

    assert [one.subject.node for one in found] == list(NODES)
    assert not any(one.crash_of for one in found)


@pytest.mark.parametrize(
    "alerts",
    [
        pytest.param([counted(119), counted(120, node="gpu-a02")], id="another number"),
        pytest.param([counted(119), counted(119, node="gpu-a02", after=301)], id="later"),
        pytest.param([counted(119), counted(119, node="gpu-z09")], id="a node without the training"),
    ],
)
def test_what_is_another_fault_is_another_incident(alerts: list[Alert]) -> None:
    assert len(incidents(*alerts, known=topology("gpu-a01", "gpu-a02"))) == 2


def test_a_training_on_one_node_does_not_explain_its_node() -> None:
    (found,) = incidents(counted(119, gpu="0"), counted(119, gpu="1"), known=topology("gpu-a01"))
    assert not found.crash_of


def test_the_crash_says_that_its_training_failed() -> None:
    found = incidents(*everywhere(119), known=topology(failed=True))[0]
    died = [event.text for event in found.events if event.type is IncidentEventType.TRAINING_FAILED]
    assert died == ["vision/detr: worker 0 failed"]


def test_the_gpu_that_broke_is_found_among_the_consequences_on_all_nodes() -> None:
    """XID 45 as the root cause would hide the one node that is broken behind a crash of the training."""
    (broken,) = incidents(counted(79, node="gpu-a02"), *everywhere(45))

    assert (broken.crash_of, broken.subject.node) == ("", "gpu-a02")
    assert suggested(broken, RULES) == ("node cordon gpu-a02 --reason x",)


def test_a_crash_that_turns_out_to_be_a_broken_gpu_is_about_its_node() -> None:
    found = incidents(*everywhere(119), counted(79, node=NODES[0], after=90))

    (broken,) = (one for one in found if any(member.xid == 79 for member in one.members))
    assert (broken.crash_of, broken.subject.node) == ("", NODES[0])
    assert "node cordon gpu-a01 --reason x" in suggested(broken, RULES)


def test_a_consequence_on_another_node_offers_no_cordon_of_that_node() -> None:
    together = incident_of(counted(79), counted(45, node="gpu-a02"))
    assert "node cordon gpu-a01 --reason x" in suggested(together, RULES)
    assert "node cordon gpu-a02 --reason x" not in suggested(together, RULES)
