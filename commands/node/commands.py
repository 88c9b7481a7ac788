"""The commands `node list|show|cordon|drain|uncordon`. A cordon is a lease: owner, reason, incident, until."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import click

from alerts.cards.message import Block, Button, Buttons, Fields, Message, Text, bold, code, moment, text
from alerts.incidents.incident import Incident
from collectors.cluster.objects import Node
from collectors.facts.clock import humanize
from collectors.facts.subjects import Subject
from commands.core.command import Answer, Command, PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.lookups import node_named
from commands.core.parameter_types import DURATION, NODE
from commands.models import CordonLease
from commands.node.cordon import (
    BY,
    REASON,
    UNTIL,
    annotations_of,
    cordon_steps,
    forgotten_steps,
    uncordon_step,
)
from commands.node.drain import DRAIN
from commands.node.node_list import LIST, cordoned_by, gpus_of, state_of
from commands.plans.plan import Risk, in_order
from commands.plans.record_steps import forget
from commands.plans.steps import Patch, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowNode:
    node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CordonNodes:
    nodes: tuple[str, ...]
    reason: str
    lasting: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UncordonNodes:
    nodes: tuple[str, ...]


async def show(action: ShowNode, context: CommandContext) -> Answer:
    inventory = context.cluster.inventory()
    node = node_named(action.node, inventory)
    rows: list[tuple[str, Text]] = [("state", text(state_of(node)))]
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
        rows.append(("training", text(code(one.id), f" of {one.owner or '?'}, {one.gpus:g} GPUs")))
    async with context.store.read() as snapshot:
        incidents = await snapshot.rows(Incident).find(cluster=context.cluster.name, state="open")
    for incident in incidents:
        if incident.subject.node == action.node:
            rows.append(("incident", text(code(incident.id), f" {incident.lead.summary}")))
    verb = "uncordon" if node.spec.unschedulable else "cordon"
    blocks: tuple[Block, ...] = (Fields(rows=tuple(rows)),)
    if context.may.get(f"node {verb}", False):
        blocks += (Buttons(buttons=(Button(label=verb.capitalize(), line=f"node {verb} {action.node}"),)),)
    return Answer(message=Message(title=text(bold(f"Node {action.node}")), blocks=blocks))


async def cordon(action: CordonNodes, context: CommandContext) -> PlanDraft:
    """Plan a cordon: running pods stay, and no new pods are scheduled until it is lifted."""
    inventory, topology = context.cluster.inventory(), context.cluster.topology()
    steps: list[Patch | Record] = []
    notes: list[str] = []
    already: list[str] = []
    lasting = action.lasting if action.lasting is not None else context.defaults.cordon_for
    for name in dict.fromkeys(action.nodes):
        node = node_named(name, inventory)
        if node.spec.unschedulable:
            already.append(f"{name} is already cordoned by {cordoned_by(node)}")
            continue
        steps += cordon_steps(node, action.reason, context, lasting)
        for training in topology.affected_by(Subject(node=name)):
            owner = f" of {training.owner}" if training.owner else ""
            notes.append(
                f"{training.id}{owner} ({training.gpus:g} GPUs) runs on {name} and continues: a cordon evicts nothing."
            )
    if not steps:
        return PlanDraft(title="", nothing_to_do="; ".join(already) + ".")
    notes.append(
        f"The lease ends in {humanize(lasting)} with a reminder; only `node uncordon` lifts the cordon."
    )
    return PlanDraft(title=f"Cordon {_nodes_of(steps)}", stages=in_order(*steps), notes=(*notes, *already))


async def uncordon(action: UncordonNodes, context: CommandContext) -> PlanDraft:
    """Plan to lift cordons made by Yardmaster; others are left alone."""
    inventory = context.cluster.inventory()
    steps: list[Patch | Record] = []
    already: list[str] = []
    for name in dict.fromkeys(action.nodes):
        node = node_named(name, inventory)
        annotations = annotations_of(node)
        async with context.store.read() as snapshot:
            lease = await snapshot.rows(CordonLease).get(f"{context.cluster.name}/{name}")
        if not node.spec.unschedulable:
            if cleanup := forgotten_steps(node, lease):
                steps += cleanup
                already.append(f"{name} is no longer cordoned: its lease and annotations are removed.")
            else:
                already.append(f"{name} is not cordoned.")
            continue
        if BY not in annotations:
            raise UnusableError(
                f"{name} was not cordoned by Yardmaster, so the cordon cannot be lifted here. Ask its owner, or use "
                f"`kubectl uncordon {name}`."
            )
        steps.append(uncordon_step(node))
        if lease is not None:
            steps.append(forget("leases", lease, text=f"end the lease of {name}"))
    if not steps:
        return PlanDraft(title="", nothing_to_do=" ".join(already))
    return PlanDraft(title=f"Uncordon {_nodes_of(steps)}", stages=in_order(*steps), notes=tuple(already))


def _nodes_of(steps: Sequence[Patch | Record]) -> str:
    """The nodes whose objects or leases are changed, each once, in order."""
    names = (step.ref.name if isinstance(step, Patch) else step.id.rpartition("/")[2] for step in steps)
    return ", ".join(dict.fromkeys(names))


def _lease_rows(node: Node) -> list[tuple[str, Text]]:
    found = annotations_of(node)
    if BY not in found:
        return []
    return [
        ("cordoned", text(f"by {found[BY]}: {found.get(REASON, '')}, until ", _until(found.get(UNTIL, ""))))
    ]


def _until(written: str) -> Text:
    """Return the moment in an annotation, in the reader's time; anybody may have written it."""
    try:
        return text(moment(datetime.fromisoformat(written).astimezone(UTC)))
    except (ValueError, OverflowError):
        return text(written or "?")


_PATCH_NODES = Patch.rights("", "nodes")

COMMANDS = (
    LIST,
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
            click.Option(["--reason"], default="", metavar="TEXT", help="why, shown with the cordon"),
            click.Option(
                ["--for", "lasting"],
                type=DURATION,
                default=None,
                metavar="DURATION",
                help="how long the lease lasts; default: 4h, or the settings",
            ),
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
