"""Crashes of trainings: one XID on all nodes of a training at once."""

from dataclasses import replace

import pytest

from alerts.alert import Alert
from alerts.cards.headline import headline
from alerts.incidents.events import IncidentEventType
from alerts.incidents.grouping import GroupingContext
from alerts.incidents.incident import Incident
from alerts.incidents.incident_book import Effects, IncidentBook
from collectors.facts.stepwise import result_of
from collectors.facts.topology import Topology, TrainingFacts
from tests.alerts.grouping.xids import RULES, counted, suggested
from tests.support.alerting import CLUSTER, NOON, a_topology, minutes

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
