"""A cycle is absorbed at once as alert by alert: the same incidents, members, events and severities."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.alert_batch import Update
from alerts.incidents.events import IncidentEventType
from alerts.incidents.grouping import GroupingContext, acknowledge
from alerts.incidents.incident import Incident, Member
from alerts.incidents.incident_book import Effects, IncidentBook
from alerts.incidents.incident_draft import MAX_MEMBERS
from alerts.incidents.member_rows import MemberRow, with_rows
from alerts.incidents.proofs import ProofFacts
from alerts.incidents.shortening import KEPT
from alerts.lifecycle import AlertState
from alerts.rules import ImpactScope, ResolveWhen, Rule
from collectors.facts.queries import LogQuery
from collectors.facts.stepwise import result_of
from collectors.facts.topology import ClaimFacts, Topology, TrainingFacts
from tests.support.alert_by_alert import AlertByAlert
from tests.support.alerting import CLUSTER, NOON, a_rule, an_alert, minutes
from tests.support.examples import share
from tests.support.log_matches import message
from tests.support.proofs import a_rule_with, topology_of


def a_log_rule(name: str, *, by: tuple[str, ...] = ("node",), worse_after: tuple[str, ...] = ()) -> Rule:
    made = a_rule(name)
    template = replace(made.template, worse_after=worse_after, impact=ImpactScope.BYSTANDERS)
    return replace(made, template=template, query=LogQuery(match=message("x"), by=by, over=minutes(5)))


def with_template(rule: Rule, **changes: Any) -> Rule:
    return replace(rule, template=replace(rule.template, **changes))


RULES = {
    rule.id: rule
    for rule in (
        a_rule("Hot"),
        with_template(a_rule("Worse"), worse_after=("Hot", "Line")),
        with_template(a_rule("Asks"), resolve_when=ResolveWhen.ACKNOWLEDGED),
        with_template(a_rule("Everybody"), impact=ImpactScope.CLUSTER),
        a_log_rule("Line"),
        a_log_rule("Volume", by=("node", "device", "volume"), worse_after=("Line",)),
        a_log_rule("GPUXIDLogged"),
        a_rule_with("node-rebooted gpus-allocatable"),
    )
}
NAMES = ("Hot", "Worse", "Asks", "Everybody", "Line", "Volume", "GPUXIDLogged", "Fault", "Unruled")
LABELS: tuple[dict[str, str], ...] = (
    {"node": "gpu-a01"},
    {"node": "gpu-a01", "gpu": "1"},
    {"node": "gpu-a01", "gpu": "2"},
    {"node": "gpu-a02"},
    {"node": "gpu-a01", "xid": "31"},
    {"node": "gpu-a02", "xid": "31"},
    {"node": "gpu-a02", "xid": "79"},
    {"node": "gpu-a01", "device": "rbd1"},
    {"node": "gpu-a01", "device": "rbd1", "volume": "pv-1"},
    {"pod": "detr-0", "namespace": "vision"},
    {"component": "dns", "instance": "10.0.0.11:9153"},
    {"component": "dns", "instance": "10.0.0.12:9153"},
)
OFFSETS = (0, 1, 4, 9, 11, 70)  # minutes to the next cycle: before and after an incident may be reopened

alerts_of_a_cycle = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from(LABELS),
        st.sampled_from(("firing", "firing", "resolved", "pending", "unseen", "gone")),
        st.sampled_from(("critical", "warning", "info")),
        st.sampled_from((0, 1)),  # more of its value
        st.sampled_from((0, -2)),  # minutes: a backfill reports what was before
        st.sampled_from(("C1", "C2")),
    ),
    max_size=12,
)
cycles = st.lists(
    st.tuples(
        st.sampled_from(OFFSETS),
        alerts_of_a_cycle,
        st.sampled_from("87b-"),
        st.booleans(),
    ),
    min_size=1,
    max_size=6,
)


def an_update(now: datetime, spec: tuple[str, dict[str, str], str, str, int, int, str]) -> Update:
    name, labels, state, severity, more, before, channel = spec
    at = now + minutes(before)
    texts = ("vision/detr died.",) if name == "Line" else ()
    alert = an_alert(
        name,
        severity=severity,
        at=at,
        state={"unseen": AlertState.FIRING, "gone": AlertState.RESOLVED}.get(state) or AlertState(state),
        on=labels,
    )
    return (
        replace(
            alert,
            value=91 + more,
            annotations={**alert.annotations, "proof": "node-rebooted gpus-allocatable"},
            texts=(*texts, channel),
            unseen_since=at if state == "unseen" else None,
            ended_reason="the node left" if state == "gone" else "",
        ),
        at,
    )


def the_topology(letter: str) -> Topology:
    known = topology_of(letter)
    crashed = TrainingFacts(
        id="vision/detr",
        owner="ana",
        gpus=16,
        nodes=("gpu-a01", "gpu-a02"),
        failed_at=NOON + minutes(5) if letter == "7" else None,
        failure="worker 0 failed",
    )
    claim = ClaimFacts(name="vision/scratch", trainings=("vision/detr",), writers=("vision/detr",))
    return replace(
        known,
        trainings={**known.trainings, crashed.id: crashed},
        claims={"pv-1": claim},
    )


@dataclass
class Both:
    """The book and the model, given the same."""

    most: int = MAX_MEMBERS
    kept: int = KEPT

    def __post_init__(self) -> None:
        self.book = IncidentBook(CLUSTER, most_members=self.most, kept=self.kept)
        self.documents: dict[str, Incident] = {}  # and these rows: as they are stored
        self.rows: dict[str, MemberRow] = {}
        self.model = AlertByAlert(most=self.most)
        self.numbers = 0

    def cycle(self, now: datetime, updates: Sequence[Update], letter: str, *, acknowledges: bool) -> None:
        topology = the_topology(letter)
        grouping = GroupingContext(
            rules=RULES, topology=topology, facts=ProofFacts(topology=topology if letter != "-" else None)
        )
        given: dict[str, Any] = {
            "grouping": grouping,
            "channels_of": lambda alert: alert.texts[-1:],
            "now": now,
        }
        ours = result_of(self.book.absorb(updates, **given))
        theirs = self.model.absorb(updates, **given)
        assert ours == theirs
        ids = [f"i{self.numbers + number}" for number, _ in enumerate(ours.opened, 1)]
        self.numbers += len(ids)
        self.store(ours.numbered(ids))
        if acknowledges:
            self.acknowledge(now)
        self.book.forget(now)
        for id in [one for one in self.model.incidents if self.book.get(one) is None]:
            self.model.forget(id)
            self.documents.pop(id)

    def store(self, effects: Effects) -> None:
        self.model.store(effects)
        documents: dict[str, Incident] = {}
        rows: dict[str, MemberRow | None] = {}
        for write in result_of(self.book.writes(effects)):
            documents[write.whole.id] = write.document
            rows |= {row.id: row for row in write.put} | dict.fromkeys(write.deleted)
        self.documents |= documents
        self.rows |= {id: row for id, row in rows.items() if row is not None}
        for id in [id for id, row in rows.items() if row is None]:
            del self.rows[id]
        self.book.apply({"incidents": documents, "members": rows})
        for id, document in self.documents.items():
            assert len(document.members) <= self.kept
            stored = with_rows(document, [row for row in self.rows.values() if row.incident == id])
            assert by_id(stored) == by_id(self.model.incidents[id])

    def acknowledge(self, now: datetime) -> None:
        known: dict[str, Incident] = {one.id: acknowledge(one, who="U1", now=now) for one in self.book.open}
        self.model.incidents.update(known)
        documents = {id: acknowledge(self.documents[id], who="U1", now=now) for id in known}
        self.documents |= documents
        self.book.apply({"incidents": documents})


def by_id(incident: Incident) -> dict[str, Member]:
    return {member.alert: member for member in incident.members}


@pytest.mark.parametrize(("most", "kept"), [(MAX_MEMBERS, KEPT), (3, KEPT), (MAX_MEMBERS, 2), (4, 2)])
@given(cycles)
@share(1)
def test_a_cycle_gives_what_its_alerts_give_one_by_one(
    most: int, kept: int, played: list[tuple[int, list[Any], str, bool]]
) -> None:
    both, now = Both(most=most, kept=kept), NOON
    for offset, specs, letter, acknowledges in played:
        now += minutes(offset)
        both.cycle(now, [an_update(now, spec) for spec in specs], letter, acknowledges=acknowledges)


def test_the_examples_reach_what_is_compared() -> None:
    """Both see crashes, proofs, worse alerts and claims, or the comparison would be of little."""
    both = Both()
    specs = [
        ("GPUXIDLogged", {"node": "gpu-a01", "xid": "31"}, "firing", "info", 0, 0, "C1"),
        ("Hot", {"node": "gpu-a01"}, "firing", "warning", 0, 0, "C1"),
        ("GPUXIDLogged", {"node": "gpu-a01", "xid": "31"}, "firing", "warning", 0, 0, "C1"),
        ("GPUXIDLogged", {"node": "gpu-a02", "xid": "31"}, "firing", "warning", 0, 0, "C2"),
        ("Worse", {"node": "gpu-a01"}, "firing", "warning", 0, 0, "C1"),
        ("Fault", {"node": "gpu-a01"}, "firing", "critical", 0, 0, "C1"),
        ("Line", {"node": "gpu-a01", "device": "rbd1"}, "firing", "warning", 0, 0, "C1"),
        ("Volume", {"node": "gpu-a01", "device": "rbd1", "volume": "pv-1"}, "firing", "warning", 0, 0, "C1"),
    ]
    both.cycle(NOON, [an_update(NOON, spec) for spec in specs], "7", acknowledges=False)
    found = list(both.book.open)
    members = [member for one in found for member in one.members]
    assert any(one.crash_of == "vision/detr" for one in found)
    assert any(member.is_worse for member in members)
    assert any(member.proofs for member in members)
    assert any(member.subject.volume for member in members)
    assert any(impact.failed_at for one in found for impact in one.impacts)


def test_an_alert_in_the_place_of_the_worst_is_not_said_to_be_worse() -> None:
    both = Both(most=3)
    specs = [
        ("Hot", {"node": "gpu-a01"}, "firing", "critical", 0, 0, "C1"),
        ("Line", {"node": "gpu-a01"}, "firing", "critical", 0, 0, "C1"),
        ("Volume", {"node": "gpu-a01"}, "resolved", "critical", 0, 0, "C1"),
        ("Worse", {"node": "gpu-a01"}, "firing", "critical", 0, 0, "C1"),
    ]
    both.cycle(NOON, [an_update(NOON, spec) for spec in specs], "8", acknowledges=False)
    (found,) = both.book.open
    assert IncidentEventType.WORSENED not in [event.type for event in found.events]
