"""A second producer of alerts, without rules or queries: a sender beside the evaluation feeds the same port."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime

import pytest

from alerts.alert import Alert
from alerts.alert_batch import AlertBatch, AlertRecorder, Update
from alerts.cards.text import plain
from alerts.incidents.incident import Incident
from alerts.lifecycle import AlertLife, AlertState
from alerts.rules import ResolveWhen, Severity
from alerts.store import EvaluationProgress, Unit
from collectors.facts.label_mapping import subject_of
from collectors.facts.labels import Labels
from tests.support.alerting import CLUSTER, NOON, a_rule, a_topology, minutes
from tests.support.evaluation import Canned, EvaluationStage, hot
from tests.support.memory_store import MemoryStore

SENDER = "switch-watcher"


@dataclass(frozen=True)
class Received:
    """An alert as the sender has it: labels, and its own moments."""

    labels: dict[str, str]
    starts_at: datetime
    ends_at: datetime | None = None


@dataclass
class Sender:
    """Brings what it received to the port, and keeps how far it has come in the same transaction."""

    recorder: AlertRecorder

    async def bring(self, received: Iterable[Received], at: datetime) -> None:
        updates = tuple(_update(one) for one in received)
        batch = AlertBatch(
            at=at,
            updates=updates,
            complete=frozenset({SENDER}),
            states=(EvaluationProgress(cluster=f"{CLUSTER}/{SENDER}", evaluated={"read": at}),),
        )
        await self.recorder.record(batch, rules={}, topology=a_topology())


def _update(received: Received) -> Update:
    labels = Labels(received.labels)
    own = subject_of(labels)
    is_over = received.ends_at is not None
    alert = Alert(
        cluster=CLUSTER,
        rule=SENDER,
        labels=labels,
        own_subject=own,
        subject=a_topology().complete(own),
        life=AlertLife(
            state=AlertState.RESOLVED if is_over else AlertState.FIRING,
            since=received.starts_at,
            fired_at=received.starts_at,
            resolved_at=received.ends_at,
        ),
        value=1,
        annotations={"summary": f"A link of {own.node} is down."},
        is_received=True,
    )
    return alert, received.ends_at or received.starts_at


LINK = Received({"alertname": "LinkDown", "severity": "critical", "node": "gpu-a01"}, NOON + minutes(3))
OVER = replace(LINK, ends_at=NOON + minutes(8))


class DyingStore(MemoryStore):
    """A store whose process dies before the commit of the next unit that is meant."""

    dies = False

    @asynccontextmanager
    async def unit(self) -> AsyncGenerator[Unit]:
        async with super().unit() as unit:
            yield unit
            if self.dies:
                raise ConnectionError("the process was killed")


def a_yard(store: MemoryStore | None = None, *spans: tuple[int, int]) -> EvaluationStage:
    rules = (a_rule(),)
    return EvaluationStage(
        rules=rules, metrics=Canned(hot(*(spans or ((0, 6),)))), store=store or MemoryStore()
    )


async def state_of(yard: EvaluationStage) -> EvaluationProgress | None:
    async with yard.store.read() as snapshot:
        return await snapshot.rows(EvaluationProgress).get(f"{CLUSTER}/{SENDER}")


async def the_incident(yard: EvaluationStage) -> Incident:
    (incident,) = await yard.incidents()
    return incident


async def test_both_producers_end_in_one_incident_with_one_card() -> None:
    yard = a_yard()
    await yard.run(3)
    await Sender(yard.recorder).bring([LINK], NOON + minutes(3))

    incident = await the_incident(yard)
    assert sorted(member.name for member in incident.members) == ["GPUTemperatureHigh", "LinkDown"]
    assert incident.severity is Severity.CRITICAL
    assert [card.id for card in await yard.cards()] == ["incident/i1/C1"]
    ((_, said),) = await yard.said()
    assert said.startswith("Severity raised to critical: A link of gpu-a01 is down")


async def test_it_resolves_when_the_last_alert_of_either_has() -> None:
    yard = a_yard()
    sender = Sender(yard.recorder)
    await yard.run(3)
    await sender.bring([LINK], NOON + minutes(3))
    await yard.run(8, start=3)  # it is cool from minute 6
    assert (await the_incident(yard)).is_open
    await sender.bring([OVER], NOON + minutes(9))

    assert (await the_incident(yard)).resolved_at == NOON + minutes(8)
    assert [plain(line.text).split(" after")[0] for line in await yard.worded()][-1] == "Resolved"


async def test_a_sender_alone_opens_an_incident_and_ends_it() -> None:
    yard = a_yard(None, (90, 91))
    sender = Sender(yard.recorder)
    await sender.bring([LINK], NOON + minutes(3))
    opened = await the_incident(yard)
    await sender.bring([OVER], NOON + minutes(8))

    assert (opened.opened_at, opened.group_key) == (NOON + minutes(3), "node/gpu-a01")
    assert (await the_incident(yard)).resolved_at == NOON + minutes(8)
    assert len(await yard.cards()) == 1


@pytest.mark.parametrize("dies_first", [True, False])
async def test_a_kill_before_the_commit_leaves_nothing_and_the_batch_may_be_brought_again(
    dies_first: bool,
) -> None:
    store = DyingStore()
    yard = a_yard(store)
    await yard.run(3)
    store.dies = dies_first
    if dies_first:
        with pytest.raises(ConnectionError):
            await Sender(yard.recorder).bring([LINK], NOON + minutes(3))
        store.dies = False
        assert await state_of(yard) is None
        assert {alert.rule for alert in await yard.alerts()} == {a_rule().id}
        assert len((await the_incident(yard)).members) == 1
    await yard.restart(4)
    for _ in range(2):  # the sender cannot know whether it was stored
        await Sender(yard.recorder).bring([LINK], NOON + minutes(4))

    assert await state_of(yard) is not None
    assert len((await the_incident(yard)).members) == 2
    assert len(await yard.cards()) == len(await yard.said()) == 1


async def test_a_restart_of_the_evaluation_does_not_end_what_a_sender_brought() -> None:
    yard = a_yard()
    await Sender(yard.recorder).bring([LINK], NOON + minutes(3))
    await yard.restart(4)
    standing, _ = await yard.recorder.restore()
    await yard.round(4)

    assert [alert.rule for alert in standing] == []
    assert [member.name for member in (await the_incident(yard)).firing] == ["LinkDown", "GPUTemperatureHigh"]


async def test_what_was_seen_of_a_fault_is_not_touched_by_a_batch_that_looked_at_nothing() -> None:
    rule = a_rule(resolve_when=ResolveWhen.PROVEN)
    rule = replace(
        rule,
        template=replace(rule.template, annotations={**rule.template.annotations, "proof": "node-rebooted"}),
    )
    yard = EvaluationStage(rules=(rule,), metrics=Canned(hot((0, 90))))
    await yard.run(3)
    before = [member for member in (await the_incident(yard)).members if member.proofs]
    await Sender(yard.recorder).bring([LINK], NOON + minutes(3))

    assert before
    assert [member for member in (await the_incident(yard)).members if member.proofs] == before
