"""Evidence of a failure: the last lines of its ranks, those of their nodes, and events. Bounded and redacted."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from collectors.cluster.indexes import by_involved_object
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import EVENTS
from collectors.cluster.objects import Event
from collectors.facts.redaction import Redactor
from collectors.facts.results import SourceError
from collectors.trainings.training import Rank, Training
from commands.core.context import Cluster
from commands.training.failure_finding import FailureEvidence, rank_name
from commands.training.failure_signs import TimedLine
from commands.training.training_events import events_about

MOST_RANKS, MOST_NODES = 12, 8  # that are read: those that failed first before the others
READ_LINES = 200
MAX_LOG = 1 << 18  # bytes of one rank
MAX_LINE = 1_000  # characters
BEFORE = timedelta(minutes=30)  # a node says so long before a failure what becomes of it
AFTER = timedelta(minutes=2)
READ_WITHIN = timedelta(seconds=15)  # for all of it


async def failure_evidence(
    training: Training, cluster: Cluster, *, redact: Redactor, now: datetime
) -> FailureEvidence:
    """Return what can be read; what cannot is left out, as the rest may say enough."""
    ranks = list({rank_name(rank): rank for rank in (*training.failures, *training.ranks)}.values())[
        :MOST_RANKS
    ]
    nodes = list(dict.fromkeys(rank.node for rank in ranks if rank.node))[:MOST_NODES]
    try:
        async with asyncio.timeout(READ_WITHIN.total_seconds()):
            output = await asyncio.gather(
                *(_output(training, rank, cluster, redact=redact, now=now) for rank in ranks)
            )
            hosts = await asyncio.gather(*(_of_node(node, training, cluster, now=now) for node in nodes))
    except TimeoutError:
        output, hosts = [], []
    try:
        inventory = cluster.inventory()
        events = [*events_about(training, inventory), *_node_events(nodes, inventory)]
    except SourceError:
        events = []
    return FailureEvidence(
        output={rank_name(rank): lines for rank, lines in zip(ranks, output, strict=False)},
        hosts=dict(zip(nodes, hosts, strict=False)),
        events=events,
    )


async def _output(
    training: Training, rank: Rank, cluster: Cluster, *, redact: Redactor, now: datetime
) -> Sequence[TimedLine]:
    """Return a rank's last lines from the API, or from the log store when its pod is gone."""
    try:
        if cluster.pod_logs is not None:
            log = await cluster.pod_logs.logs(
                training.namespace, rank.pod, tail=READ_LINES, byte_limit=MAX_LOG, timestamps=True
            )
            if log.strip():
                return clean_lines(timed_lines(log), redact)
    except SourceError:
        pass
    try:
        if cluster.logs is not None:
            where = {"namespace": training.namespace, "pod": rank.pod}
            found = await cluster.logs.lines(where=where, at=now, tail=READ_LINES)
            return tuple(TimedLine(at=line.at, text=line.text) for line in found)
    except SourceError:
        pass
    return ()


async def _of_node(node: str, training: Training, cluster: Cluster, *, now: datetime) -> Sequence[TimedLine]:
    """Return the lines of the node itself around the failure; any pod may quote what some kernel once wrote."""
    first = training.first_failure
    at = (first.finished if first is not None else None) or training.finished or now
    if cluster.logs is None:
        return ()
    try:
        found = await cluster.logs.lines(
            where={"node": node}, at=min(at + AFTER, now), since=at - BEFORE, tail=READ_LINES
        )
    except SourceError:
        return ()
    return tuple(TimedLine(at=one.at, text=one.text) for one in found if not one.labels.get("pod"))


def clean_lines(lines: Sequence[TimedLine], redact: Redactor) -> tuple[TimedLine, ...]:
    """Return the lines without secrets. A key of many lines is only recognised as a whole: none of its lines stays."""
    kept: list[TimedLine] = []
    is_in_key = False
    for line in lines:
        is_in_key = is_in_key or "-----BEGIN" in line.text
        if not is_in_key:
            kept.append(line)
        is_in_key = is_in_key and "-----END" not in line.text
    texts = redact.clean("\n".join(one.text for one in kept), limit=MAX_LOG).splitlines()
    if len(texts) != len(kept):
        texts = [redact.clean(one.text) for one in kept]
    return tuple(TimedLine(at=line.at, text=text[:MAX_LINE]) for line, text in zip(kept, texts, strict=True))


def timed_lines(log: str) -> tuple[TimedLine, ...]:
    """Return the lines of a log in which the API has put a time before each; lines without one are left out."""
    found = []
    for line in log.splitlines():
        stamp, _, text = line.partition(" ")
        try:
            at = datetime.fromisoformat(stamp)
        except ValueError:
            continue
        if at.tzinfo is not None:
            found.append(TimedLine(at=at, text=text))
    return tuple(found)


def _node_events(nodes: Sequence[str], inventory: Inventory) -> list[Event]:
    return [
        event
        for node in nodes
        for event in inventory.select(EVENTS, by_involved_object, f"default/Node/{node}")
    ]
