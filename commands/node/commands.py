"""The commands `node list|history|show|cordon|drain|uncordon`. A cordon is a lease: owner, reason, incident, until."""

from dataclasses import dataclass
from datetime import UTC, datetime

import click

from alerts.cards.message import Block, Button, Buttons, Fields, Message
from alerts.cards.text import Text, bold, code, moment, text
from collectors.cluster.objects import Node
from collectors.facts.results import SourceError
from collectors.facts.sentences import counted, sentence
from collectors.facts.subjects import Subject
from collectors.facts.topology import TrainingFacts
from commands.core.command import Answer, Command
from commands.core.context import CommandContext
from commands.core.cordoned_nodes import BY, REASON, UNTIL, against_uncordoning, annotations_of
from commands.core.lookups import node_named, read_node
from commands.core.named_incident import open_incidents
from commands.core.parameter_types import NODE, lasting_option, reason_option
from commands.execution.plan import Risk
from commands.execution.steps import Patch
from commands.node.cordon_commands import (
    CordonNodes,
    UncordonNodes,
    cordon,
    lease_of,
    uncordon,
)
from commands.node.drain import DRAIN
from commands.node.history import HISTORY
from commands.node.node_list import LIST, gpus_of, state_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowNode:
    node: str


async def show(action: ShowNode, context: CommandContext) -> Answer:
    inventory = context.cluster.inventory()
    try:
        node = await read_node(action.node, context)
    except SourceError:
        node = node_named(action.node, inventory)
    lease = await lease_of(action.node, context)
    rows: list[tuple[str, Text]] = [("state", text(state_of(node, lease)))]
    facts = context.cluster.topology().nodes.get(action.node)
    if facts:
        rows += [
            ("rack", text(facts.rack or "?")),
            ("GPUs", text(f"{gpus_of(inventory, action.node)} {facts.gpu_product}")),
        ]
    for condition in node.status.conditions or ():
        if (condition.type == "Ready") != (condition.status == "True"):
            rows.append((condition.type, text(f"{condition.status} {condition.reason}: {condition.message}")))
    rows += _lease_rows(node)
    for one in context.cluster.topology().affected_by(Subject(node=action.node)):
        kind = "training" if isinstance(one, TrainingFacts) else "workload"
        said = counted(
            "`{workload}` of {owner}, {count:g} GPU",
            "`{workload}` of {owner}, {count:g} GPUs",
            workload=one.shown,
            owner=one.owner or "?",
            count=one.gpus,
        )
        rows.append((kind, text(said)))
    incidents = await open_incidents(context)
    for incident in incidents:
        if incident.subject.node == action.node:
            rows.append(("incident", text(code(incident.id), " ", incident.lead.summary)))
    verb = "uncordon" if node.spec.unschedulable else "cordon"
    blocks: tuple[Block, ...] = (Fields(rows=tuple(rows)),)
    is_advisable = verb == "cordon" or not against_uncordoning(node, incidents)
    if context.may.get(f"node {verb}", False) and is_advisable:
        label = "Uncordon" if verb == "uncordon" else "Cordon"
        blocks += (Buttons(buttons=(Button(label=label, line=f"node {verb} {action.node}"),)),)
    return Answer(message=Message(title=text(bold(sentence("Node {node}", node=action.node))), blocks=blocks))


def _lease_rows(node: Node) -> list[tuple[str, Text]]:
    found = annotations_of(node)
    if BY not in found:
        return []
    said = sentence(
        "by {who}: {reason}, until {until}",
        who=found[BY],
        reason=found.get(REASON, ""),
        until=_until(found.get(UNTIL, "")),
    )
    return [("cordoned", text(said))]


def _until(written: str) -> Text:
    """Return the moment in an annotation, in the reader's time; anybody may have written it."""
    try:
        return text(moment(datetime.fromisoformat(written).astimezone(UTC)))
    except (ValueError, OverflowError):
        return text(written or "?")


_PATCH_NODES = Patch.rights("", "nodes")

COMMANDS = (
    LIST,
    HISTORY,
    Command(
        noun="node",
        verb="show",
        summary="Show a node: conditions, lease, trainings, incidents.",
        action=ShowNode,
        parameters=(click.Argument(["node"], type=NODE),),
        read=show,
        example="node show gpu-a04",
    ),
    Command(
        noun="node",
        verb="cordon",
        summary="Keep new pods off nodes, as a lease with owner, reason and end.",
        action=CordonNodes,
        parameters=(
            click.Argument(["nodes"], type=NODE, nargs=-1, required=True, metavar="NODE"),
            reason_option("why, shown with the cordon"),
            lasting_option("how long the lease lasts; default: 4h, or the settings"),
        ),
        plan=cordon,
        risk=Risk.TOUCH,
        rights=_PATCH_NODES,
        example='node cordon gpu-a04 --reason "fan failure" --for 4h',
    ),
    DRAIN,
    Command(
        noun="node",
        verb="uncordon",
        summary="Lift cordons made by Yardmaster; others are left alone.",
        action=UncordonNodes,
        parameters=(click.Argument(["nodes"], type=NODE, nargs=-1, required=True, metavar="NODE"),),
        plan=uncordon,
        risk=Risk.TOUCH,
        rights=_PATCH_NODES,
        example="node uncordon gpu-a04",
    ),
)
