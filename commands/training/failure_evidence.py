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
from collectors.trainings.training import Training
from commands.core.context import Cluster
from commands.core.pod_lines import TimedLine
from commands.training.failure_finding import FailureEvidence, rank_name
from commands.training.rank_lines import lines_of_rank, ranks_of
from commands.training.training_events import events_about

MOST_RANKS, MOST_NODES = 12, 8  # that are read: those that failed first before the others
READ_LINES = 200
BEFORE = timedelta(minutes=30)  # a node says so long before a failure what becomes of it
AFTER = timedelta(minutes=2)
READ_WITHIN = timedelta(seconds=15)  # for all of it


async def failure_evidence(
    training: Training, cluster: Cluster, *, redact: Redactor, now: datetime
) -> FailureEvidence:
    """Return what can be read; what cannot is left out, as the rest may say enough."""
    ranks = ranks_of(training)[:MOST_RANKS]
    nodes = list(dict.fromkeys(rank.node for rank in ranks if rank.node))[:MOST_NODES]
    try:
        async with asyncio.timeout(READ_WITHIN.total_seconds()):
            output = await asyncio.gather(
                *(
                    lines_of_rank(training, rank, cluster, redact=redact, now=now, tail=READ_LINES)
                    for rank in ranks
                )
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


def _node_events(nodes: Sequence[str], inventory: Inventory) -> list[Event]:
    return [
        event
        for node in nodes
        for event in inventory.select(EVENTS, by_involved_object, f"default/Node/{node}")
    ]
