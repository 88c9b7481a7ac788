"""The command `node history`: which nodes broke how often, and how long repairs take."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import click

from alerts.cards.message import Block, Context, Message, Table
from alerts.cards.text import bold, text
from alerts.incidents.incident import Incident
from alerts.incidents.outages import OFTEN, Outage, median_repairs, outages_of
from collectors.facts.clock import humanize
from collectors.facts.sentences import counted, listed, sentence
from commands.core.blindness import nothing_seen
from commands.core.command import EVERY_SOURCE, Answer, Command
from commands.core.context import CommandContext
from commands.core.lookups import known_name
from commands.core.parameter_types import NODE

SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowHistory:
    node: str


async def show(action: ShowHistory, context: CommandContext) -> Answer:
    """Return the nodes that broke, the most often first, and the median repair by alert; or one node's outages."""
    async with context.store.read() as snapshot:
        incidents = await snapshot.rows(Incident).find(cluster=context.cluster.name)
    outages = outages_of(incidents)
    found = [one for one in outages if action.node in ("", one.node)]
    if action.node and not found:
        known_name(action.node, [*context.cluster.inventory().nodes, *(one.node for one in outages)], "node")
    if not found:
        return Answer(message=nothing_seen("No critical incident of a node is stored", context))
    blocks = _of_node(found, context) if action.node else _of_all(found, context)
    count = bold(counted("{count} outage", "{count} outages", count=len(found)))
    title = text(sentence("{outages} since {at}", outages=count, at=found[0].began))
    return Answer(message=Message(title=title, blocks=blocks))


def _of_all(found: Sequence[Outage], context: CommandContext) -> tuple[Block, ...]:
    by_node: defaultdict[str, list[Outage]] = defaultdict(list)
    for one in found:
        by_node[one.node].append(one)
    worst = sorted(by_node.items(), key=lambda item: (-len(item[1]), item[0]))
    nodes = Table(
        heading=("node", "outages", "in all", "last"),
        rows=tuple(
            (node, str(len(outages)), _in_all(outages, context), _named(outages[-1], context))
            for node, outages in worst[:SHOWN]
        ),
        more=max(0, len(worst) - SHOWN),
    )
    counts = Counter(one.name for one in found)
    repairs = median_repairs(found)
    alerts = Table(
        heading=("alert", "outages", "median repair"),
        rows=tuple(
            (name, str(count), humanize(repairs[name], parts=2) if name in repairs else "not yet repaired")
            for name, count in counts.most_common(SHOWN)
        ),
        more=max(0, len(counts) - SHOWN),
    )
    often = sum(len(outages) >= OFTEN for outages in by_node.values())
    note = Context(
        text=text(
            counted(
                "{count} node broke {often} times or more: look for a common part, or call the vendor.",
                "{count} nodes broke {often} times or more: look for a common part, or call the vendor.",
                count=often,
                often=OFTEN,
            )
        )
    )
    return (nodes, alerts, note) if often else (nodes, alerts)


def _of_node(found: Sequence[Outage], context: CommandContext) -> tuple[Block, ...]:
    rows = tuple(
        (one.incident, one.name, humanize(context.now - one.began, parts=1), _lasted(one, context))
        for one in reversed(found)
    )
    heading = ("incident", "alert", "ago", "lasted")
    return (Table(heading=heading, rows=rows[:SHOWN], more=max(0, len(rows) - SHOWN)),)


def _in_all(outages: Sequence[Outage], context: CommandContext) -> str:
    first, *others = ((one.ended or context.now) - one.began for one in outages)
    return humanize(sum(others, start=first), parts=1)


def _named(outage: Outage, context: CommandContext) -> str:
    return listed((outage.name, _lasted(outage, context)))


def _lasted(outage: Outage, context: CommandContext) -> str:
    lasted = humanize((outage.ended or context.now) - outage.began, parts=1)
    return lasted if outage.ended else sentence("{lasted} so far", lasted=lasted)


HISTORY = Command(
    noun="node",
    verb="history",
    summary="Show how often nodes broke and how long repairs took.",
    action=ShowHistory,
    parameters=(click.Argument(["node"], type=NODE, required=False, default=""),),
    read=show,
    shows=EVERY_SOURCE,
    example="node history",
)
