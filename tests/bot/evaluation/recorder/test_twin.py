"""The same alert from our own rule and from a sender is one line of one incident, which stands while either does."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import permutations

import pytest

from alerts.alert import Alert
from alerts.alert_batch import AlertBatch
from alerts.cards.posted import PostedCard
from alerts.incidents.events import IncidentEventType
from alerts.incidents.incident import Incident
from alerts.incidents.twin import twin_of
from alerts.lifecycle import AlertState
from alerts.routing import CardRouting
from bot.evaluation.recorder import IncidentRecorder
from collectors.facts.labels import Labels
from tests.support.alerting import CLUSTER, NOON, a_rule, a_topology, an_alert, minutes
from tests.support.memory_store import MemoryStore

RULE = a_rule()
OURS = an_alert(summary="gpu-a01 is hot.")
SENT_LABELS = Labels({**OURS.labels, "cluster": CLUSTER, "prometheus": "monitoring/k8s"})
THEIRS = replace(
    OURS,
    rule=f"received/{OURS.name}",
    labels=SENT_LABELS,
    annotations={"summary": "Heat, says Prometheus."},
    is_received=True,
    twin=twin_of(CLUSTER, RULE, SENT_LABELS, frozenset({"cluster", "prometheus"})),
)


@dataclass
class Stage:
    store: MemoryStore = field(default_factory=MemoryStore)
    minute: int = 0

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.recorder = IncidentRecorder(CLUSTER, self.store, CardRouting(default="C1"))

    @property
    def now(self) -> datetime:
        return NOON + minutes(self.minute)

    async def bring(self, *alerts: Alert) -> None:
        self.minute += 1
        batch = AlertBatch(at=self.now, updates=tuple((one, self.now) for one in alerts))
        await self.recorder.record(batch, rules={RULE.id: RULE}, topology=a_topology())

    async def ends(self, alert: Alert) -> None:
        at = self.now + minutes(1)
        life = replace(alert.life, state=AlertState.RESOLVED, resolved_at=at, inactive_since=at)
        await self.bring(replace(alert, life=life))

    async def incident(self) -> Incident:
        async with self.store.read() as snapshot:
            (found,) = await snapshot.rows(Incident).find()
            assert len(await snapshot.rows(PostedCard).find()) == 1
        return found


def test_the_twin_of_an_alert_is_ours_with_the_labels_that_no_sender_adds() -> None:
    assert THEIRS.twin == OURS.id
    assert twin_of(CLUSTER, None, SENT_LABELS, frozenset()) == ""
    assert twin_of(CLUSTER, RULE, SENT_LABELS, frozenset()) != OURS.id


@pytest.mark.parametrize("order", list(permutations((OURS, THEIRS))), ids=["ours first", "theirs first"])
@pytest.mark.parametrize("together", [False, True])
async def test_both_are_one_line_whoever_comes_first(order: tuple[Alert, ...], together: bool) -> None:
    stage = Stage()
    if together:
        await stage.bring(*order)
    else:
        for one in order:
            await stage.bring(one)
    incident = await stage.incident()
    (member,) = incident.members
    assert (member.alert, member.twin, member.is_firing) == (OURS.id, THEIRS.id, True)
    assert member.summary == "gpu-a01 is hot."
    assert [event.type for event in incident.events] == [IncidentEventType.OPENED]


@pytest.mark.parametrize("order", list(permutations((OURS, THEIRS))), ids=["ours first", "theirs first"])
@pytest.mark.parametrize("ends", list(permutations((OURS, THEIRS))), ids=["ours ends", "theirs ends"])
@pytest.mark.parametrize("restarts", [False, True])
async def test_it_ends_when_the_last_of_both_has(
    order: tuple[Alert, ...], ends: tuple[Alert, ...], restarts: bool
) -> None:
    stage = Stage()
    for one in order:
        await stage.bring(one)
    if restarts:
        stage.restart()
    await stage.ends(ends[0])
    assert (await stage.incident()).is_open
    await stage.ends(ends[1])
    incident = await stage.incident()
    assert incident.resolved_at == stage.now
    assert [event.type for event in incident.events] == [
        IncidentEventType.OPENED,
        IncidentEventType.ALERT_RESOLVED,
        IncidentEventType.RESOLVED,
    ]


async def test_a_twin_that_comes_back_reopens_the_incident_of_ours() -> None:
    stage = Stage()
    await stage.bring(OURS)
    await stage.ends(OURS)
    again = replace(THEIRS.life, since=stage.now, fired_at=stage.now)
    await stage.bring(replace(THEIRS, life=again))
    incident = await stage.incident()
    assert incident.is_open
    assert [one.is_firing for one in incident.members] == [True]
    await stage.bring(OURS)
    await stage.ends(OURS)
    assert (await stage.incident()).is_open
    await stage.ends(THEIRS)
    assert not (await stage.incident()).is_open


async def test_what_differs_in_a_label_of_the_rule_is_another_line() -> None:
    stage = Stage()
    other = Labels({**SENT_LABELS, "gpu": "3"})
    twin = twin_of(CLUSTER, RULE, other, frozenset({"cluster", "prometheus"}))
    await stage.bring(OURS, replace(THEIRS, labels=other, twin=twin))
    assert len((await stage.incident()).members) == 2
