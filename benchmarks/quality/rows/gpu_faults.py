"""Faults of a GPU cluster over months: what incidents keep of their starts and ends, and how many messages they take.

The trace is played through the rule evaluation and the incident recorder, event by event, in its own time; what is
compared are the incidents, cards and replies in the store.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from alerts.alert import Alert
from alerts.cards.posted import PostedCard, ThreadReply
from alerts.engine import AlertChange, evaluate
from alerts.incidents.incident import Incident
from alerts.incidents.outages import OFTEN, Outage, median_repairs, outages_of
from alerts.incidents.proofs import NO_FACTS
from alerts.received import ReceivedAlert
from alerts.rendering import RuleRenderer
from alerts.routing import CardRouting
from alerts.rules import AlertTemplate, Rule, Timing
from benchmarks.quality.measure import Measure
from benchmarks.row import Goal, Peer, Row
from bot.evaluation.recorder import IncidentRecorder
from bot.evaluation.scheduler import EvaluationCycle
from bot.receiving.receiver import Inlet, Receiver
from collectors.facts.labels import AlertKey, Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.redaction import Redactor
from collectors.facts.results import Sample, Seen
from collectors.facts.stepwise import result_of
from collectors.facts.topology import Topology
from demo.side_tasks import beside
from tests.support.memory_store import MemoryStore

CLUSTER = "prod-a"
_FIRST = datetime(2026, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)
_TOPOLOGY = Topology(cluster=CLUSTER)


def _at(days: float) -> datetime:
    return _FIRST + days * _DAY


def _rule(name: str) -> Rule:
    return Rule(
        id=f"faults/faults/{name}",
        name=name,
        query=PromQLQuery(expr="node_fault"),
        timing=Timing(),
        template=AlertTemplate(
            labels={"severity": "critical"}, annotations={"summary": "{{ $labels.node }} is broken."}
        ),
        interval=timedelta(minutes=1),
    )


@dataclass(slots=True)
class _Replay:
    """The alerts of one rule for each class of faults, and the store that their incidents are in."""

    store: MemoryStore = field(default_factory=MemoryStore)
    rules: dict[str, Rule] = field(default_factory=dict)
    down: dict[str, set[str]] = field(default_factory=dict)  # class -> nodes
    alerts: dict[str, Mapping[AlertKey, Alert]] = field(default_factory=dict)

    async def play(self, events: Sequence[Mapping[str, Any]]) -> None:
        recorder = IncidentRecorder(CLUSTER, self.store, CardRouting(default="C1"))
        renderer = RuleRenderer(lambda: _TOPOLOGY, clean=Redactor(()).clean)
        for event in events:
            changes = self._happens(event, renderer)
            cycle = EvaluationCycle(at=_at(event["t_days"]), changes=changes)
            rules = {rule.id: rule for rule in self.rules.values()}
            await recorder.record(cycle.batch(NO_FACTS), rules=rules, topology=_TOPOLOGY)

    def _happens(self, event: Mapping[str, Any], renderer: RuleRenderer) -> tuple[AlertChange, ...]:
        name, now = event["class"], _at(event["t_days"])
        rule = self.rules.setdefault(name, _rule(name))
        down = self.down.setdefault(name, set())
        (down.add if event["event"] == "fault_start" else down.remove)(event["node"])
        samples = tuple(Sample(labels=Labels({"node": node}), value=1) for node in sorted(down))
        result = Seen(source="prometheus", at=now, samples=samples)
        known = self.alerts.get(name, {})
        done = result_of(evaluate(rule, known, result, cluster=CLUSTER, renderer=renderer, now=now))
        self.alerts[name] = {key: alert for key, alert in done.alerts.items() if alert.is_firing}
        return done.changes


@dataclass(slots=True)
class _TraceClock:
    """The time of the trace."""

    at: datetime = _FIRST

    def now(self) -> datetime:
        return self.at

    def elapsed(self) -> timedelta:
        return self.at - _FIRST


async def _sent(events: Sequence[Mapping[str, Any]]) -> MemoryStore:
    """Return the store in which the same faults are that another program sends: each start, and each end."""
    store, clock = MemoryStore(), _TraceClock()
    recorder = IncidentRecorder(CLUSTER, store, CardRouting(default="C1"))
    inlet = Inlet(recorder=recorder, topology=lambda: _TOPOLOGY, rules=dict)
    receiver = Receiver({CLUSTER: inlet}, store, clock, lasts=_DAY)
    began: dict[tuple[str, str], datetime] = {}
    async with beside(receiver.run()):
        for event in events:
            clock.at = now = _at(event["t_days"])
            name, node = event["class"], event["node"]
            is_start = event["event"] == "fault_start"
            since = began.setdefault((name, node), now) if is_start else began.pop((name, node))
            labels = Labels({"alertname": name, "severity": "critical", "node": node})
            alert = ReceivedAlert(
                labels=labels,
                annotations={"summary": f"{node} is broken."},
                starts_at=since,
                ends_at=now + 400 * _DAY if is_start else now,
            )
            await receiver.take([alert])
    return store


@dataclass(frozen=True, slots=True)
class _Kept:
    """What a store has of the faults. `in_channel`: cards, and replies that are shown there too."""

    outages: Sequence[Outage]
    in_channel: int
    messages: int


async def _kept(store: MemoryStore) -> _Kept:
    async with store.read() as snapshot:
        outages = outages_of(await snapshot.rows(Incident).find())
        cards = await snapshot.rows(PostedCard).find()
        replies = await snapshot.rows(ThreadReply).find()
    in_channel = len(cards) + sum(reply.broadcast for reply in replies)
    return _Kept(outages, in_channel, len(cards) + len(replies))


async def run(file: Path) -> tuple[Row, ...]:
    events, oracle = _events(file), _oracle(file.with_name("oracle.json"))
    replay = _Replay()
    await replay.play(events)
    kept, sent = await _kept(replay.store), await _kept(await _sent(events))
    naive = Peer(name="one message an event", value=oracle["messages_naive"])
    asked, right = _answers(kept.outages, oracle)
    return (
        _lost(events, kept.outages, f"of {len(events)} starts and ends of faults, lost"),
        Row(
            id="gpu_faults",
            measure=f"of {asked} figures (nodes down, repeat offenders, counts, repair times), exact",
            value=right,
            goal=Goal(limit=asked, of_value=True, at_least=True),
        ),
        _in_channel(kept, naive, "messages in the channel: cards, and replies shown there too"),
        Row(
            id="gpu_faults",
            measure="messages in all: these, and the replies in threads, which notify only who follows the thread",
            value=kept.messages,
            peer=naive,
        ),
        _lost(
            events,
            sent.outages,
            f"the same faults, sent by another program: of {len(events)} starts and ends, lost",
        ),
        _in_channel(sent, naive, "… messages in the channel"),
    )


def _events(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _oracle(file: Path) -> dict[str, Any]:
    answers: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return answers


def _lost(events: Sequence[Mapping[str, Any]], outages: Sequence[Outage], measure: str) -> Row:
    """Return the row of how many starts and ends no outage of the node has, with its class and at its moment."""
    kept = {(one.node, one.name, "fault_start", one.began) for one in outages}
    kept |= {(one.node, one.name, "fault_end", one.ended) for one in outages if one.ended}
    lost = sum(
        (event["node"], event["class"], event["event"], _at(event["t_days"])) not in kept for event in events
    )
    return Row(id="gpu_faults", measure=measure, value=lost, goal=Goal(limit=0, of_value=True))


def _in_channel(kept: _Kept, naive: Peer, measure: str) -> Row:
    return Row(
        id="gpu_faults",
        measure=measure,
        value=kept.in_channel,
        peer=naive,
        goal=Goal(limit=440, of_value=True),
    )


def _answers(outages: Sequence[Outage], oracle: Mapping[str, Any]) -> tuple[int, int]:
    """Return how many figures the data set asks for, and how many of them are exact."""
    moments = {one.began for one in outages}
    counts = Counter(one.name for one in outages)
    broke = Counter(one.node for one in outages)
    repairs = {name: round(lasted / _DAY, 4) for name, lasted in median_repairs(outages).items()}
    checks = [
        *(len(_down(outages, _at(days))) == count for days, count in oracle["nodes_down_at"]),
        max(len(_down(outages, moment)) for moment in moments) == oracle["max_nodes_down"],
        len({one.node for one in outages}) == oracle["nodes"],
        sorted(node for node, count in broke.items() if count >= OFTEN)
        == sorted(oracle["repeat_offenders_ge3"]),
        *(counts[name] == count for name, count in oracle["class_counts"].items()),
        *(repairs.get(name) == days for name, days in oracle["mttr_days_median_by_class"].items()),
    ]
    return len(checks), sum(checks)


def _down(outages: Sequence[Outage], at: datetime) -> set[str]:
    """Return the nodes that were broken then: what begins at that moment stands, what ends then does not."""
    return {one.node for one in outages if one.began <= at and (one.ended is None or at < one.ended)}


MEASURE = Measure(id="gpu_faults", title="faults over months", file="gpu_faults/events.jsonl", run=run)
