"""This file has `node list|show|cordon|uncordon`. A cordon is a lease: owner, reason, incident, until."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import click

from alerts.cards.message import Block, Button, Buttons, Fields, Message, Table, Text, bold, code, text
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Node
from collectors.cluster.resources import is_ready
from collectors.facts.clock import in_words
from collectors.facts.subjects import Subject
from commands.core.command import DURATION, Answer, Command, PlanDraft, Right, UnusableError
from commands.core.context import CommandContext
from commands.core.lookups import node_named
from commands.node.cordon import (
    BY,
    REASON,
    UNTIL,
    annotations_of,
    cordon_steps,
    forgotten_steps,
    uncordon_step,
)
from commands.plans.plan import Risk
from commands.plans.record_steps import forget
from commands.plans.steps import Patch, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ListNodes:
    rack: str
    cordoned: bool


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


async def listing(action: ListNodes, context: CommandContext) -> Answer:
    """Nodes with their rack, state, GPUs in use, and the trainings on them; GPU nodes first."""
    inventory, topology = context.cluster.inventory(), context.cluster.topology()
    rows = []
    for name, node in sorted(inventory.nodes.items()):
        facts = topology.nodes.get(name)
        rack = facts.rack if facts else ""
        if (action.rack and rack != action.rack) or (action.cordoned and not node.spec.unschedulable):
            continue
        trainings = sorted(
            {pod.training.rpartition("/")[2] for pod in topology.pods_on.get(name, ()) if pod.training}
        )
        rows.append((name, rack, _state(node), _gpus(inventory, name), ", ".join(trainings)))
    rows.sort(key=lambda row: (row[3] == "", row[0]))
    if not rows:
        raise UnusableError("No node is like that." + (f" Racks: {_racks(context)}." if action.rack else ""))
    table = Table(
        heading=("node", "rack", "state", "GPUs", "trainings"),
        rows=tuple(rows[:60]),
        more=max(0, len(rows) - 60),
    )
    return Answer(
        message=Message(title=text(bold(f"{len(rows)} node{'s' if len(rows) != 1 else ''}")), blocks=(table,))
    )


async def show(action: ShowNode, context: CommandContext) -> Answer:
    inventory = context.cluster.inventory()
    node = node_named(action.node, inventory)
    rows: list[tuple[str, Text]] = [("state", text(_state(node)))]
    facts = context.cluster.topology().nodes.get(action.node)
    if facts:
        rows += [
            ("rack", text(facts.rack or "?")),
            ("GPUs", text(f"{_gpus(inventory, action.node)} {facts.gpu_product}")),
        ]
    for condition in node.status.conditions or ():
        if (condition.type == "Ready") != (condition.status == "True"):
            rows.append((condition.type, text(f"{condition.status} {condition.reason}: {condition.message}")))
    rows += _lease_rows(node)
    for hurt in context.cluster.topology().affected_by(Subject(node=action.node)):
        rows.append(("training", text(code(hurt.id), f" of {hurt.owner or '?'}, {hurt.gpus:g} GPUs")))
    async with context.store.unit() as unit:
        incidents = await unit.incidents.find(cluster=context.cluster.name, state="open")
    for incident in incidents:
        if incident.subject.node == action.node:
            rows.append(("incident", text(code(incident.id), f" {incident.lead.summary}")))
    verb = "uncordon" if node.spec.unschedulable else "cordon"
    blocks: tuple[Block, ...] = (Fields(rows=tuple(rows)),)
    if context.may.get(f"node {verb}", False):
        blocks += (Buttons(buttons=(Button(label=verb.capitalize(), line=f"node {verb} {action.node}"),)),)
    return Answer(message=Message(title=text(bold(f"Node {action.node}")), blocks=blocks))


async def cordon(action: CordonNodes, context: CommandContext) -> PlanDraft:
    """No pod is touched; nothing new is placed there until it is uncordoned."""
    inventory, topology = context.cluster.inventory(), context.cluster.topology()
    steps: list[Patch | Record] = []
    notes: list[str] = []
    already: list[str] = []
    lasting = action.lasting if action.lasting is not None else context.defaults.cordon_for
    for name in dict.fromkeys(action.nodes):
        node = node_named(name, inventory)
        if node.spec.unschedulable:
            already.append(f"{name} is cordoned already, by {_whose(node)}")
            continue
        steps += cordon_steps(node, action.reason, context, lasting)
        for training in topology.affected_by(Subject(node=name)):
            owner = f" of {training.owner}" if training.owner else ""
            notes.append(
                f"{training.id}{owner} ({training.gpus:g} GPUs) runs on {name} and goes on: a cordon moves nothing."
            )
    if not steps:
        return PlanDraft(title="", nothing_to_do="; ".join(already) + ".")
    notes.append(
        f"A lease of {in_words(lasting)}: then you are reminded; it is lifted by `node uncordon`, not by itself."
    )
    return PlanDraft(title=f"Cordon {_nodes_of(steps)}", steps=tuple(steps), notes=(*notes, *already))


async def uncordon(action: UncordonNodes, context: CommandContext) -> PlanDraft:
    """Only a cordon of ours is lifted; another's is left as it is."""
    inventory = context.cluster.inventory()
    steps: list[Patch | Record] = []
    free: list[str] = []
    for name in dict.fromkeys(action.nodes):
        node = node_named(name, inventory)
        notes = annotations_of(node)
        async with context.store.unit() as unit:
            lease = await unit.leases.get(f"{context.cluster.name}/{name}")
        if not node.spec.unschedulable:
            if left := forgotten_steps(node, lease):
                steps += left
                free.append(f"{name} is not cordoned any more: what we noted of it goes.")
            else:
                free.append(f"{name} is not cordoned.")
            continue
        if BY not in notes:
            raise UnusableError(
                f"{name} was not cordoned by Yardmaster, so it is not ours to lift. Ask whoever did it, or use "
                f"`kubectl uncordon {name}`."
            )
        steps.append(uncordon_step(node))
        if lease is not None:
            steps.append(forget("leases", lease, says=f"end the lease of {name}"))
    if not steps:
        return PlanDraft(title="", nothing_to_do=" ".join(free))
    return PlanDraft(title=f"Uncordon {_nodes_of(steps)}", steps=tuple(steps), notes=tuple(free))


def _nodes_of(steps: Sequence[Patch | Record]) -> str:
    """Whose objects or leases are changed, each once, in order."""
    names = (step.ref.name if isinstance(step, Patch) else step.id.rpartition("/")[2] for step in steps)
    return ", ".join(dict.fromkeys(names))


def _state(node: Node) -> str:
    state = "Ready" if is_ready(node) else "NotReady"
    return f"{state}, cordoned by {_whose(node)}" if node.spec.unschedulable else state


def _whose(node: Node) -> str:
    return annotations_of(node).get(BY, "somebody else")


def _gpus(inventory: Inventory, node: str) -> str:
    """`6/8` used of allocatable, each resource by its own name where there are several."""
    gpus = inventory.gpus_on(node)
    shares = gpus.counts.values() if gpus else ()
    told = [f"{share.requested:g}/{share.allocatable:g}" for share in shares if share.capacity]
    return " ".join(told)


def _lease_rows(node: Node) -> list[tuple[str, Text]]:
    notes = annotations_of(node)
    if BY not in notes:
        return []
    return [("cordoned", text(f"by {notes[BY]}: {notes.get(REASON, '')}, until {notes.get(UNTIL, '?')}"))]


def _racks(context: CommandContext) -> str:
    return ", ".join(sorted({node.rack for node in context.cluster.topology().nodes.values() if node.rack}))


_WRITES_NODES = (Right(group="", resources=("nodes",), verbs=("get", "patch")),)

COMMANDS = (
    Command(
        noun="node",
        verb="list",
        summary="List nodes: state, GPUs in use, trainings on them.",
        action=ListNodes,
        parameters=(
            click.Option(["--rack"], default="", metavar="RACK"),
            click.Option(["--cordoned"], is_flag=True, help="only those"),
        ),
        read=listing,
        example="node list --rack rack-a",
    ),
    Command(
        noun="node",
        verb="show",
        summary="Show a node: conditions, lease, trainings, incidents.",
        action=ShowNode,
        parameters=(click.Argument(["node"]),),
        read=show,
        example="node show gpu-a04",
    ),
    Command(
        noun="node",
        verb="cordon",
        summary="Keep new pods off nodes, as a lease with owner, reason and end.",
        action=CordonNodes,
        parameters=(
            click.Argument(["nodes"], nargs=-1, required=True, metavar="NODE"),
            click.Option(["--reason"], default="", metavar="TEXT"),
            click.Option(
                ["--for", "lasting"], type=DURATION, default=None, metavar="DURATION", help="of the lease"
            ),
        ),
        plan=cordon,
        risk=Risk.TOUCH,
        rights=_WRITES_NODES,
        example='node cordon gpu-a04 --reason "fan failure" --for 4h',
    ),
    Command(
        noun="node",
        verb="uncordon",
        summary="Lift a cordon of ours; another's is left alone.",
        action=UncordonNodes,
        parameters=(click.Argument(["nodes"], nargs=-1, required=True, metavar="NODE"),),
        plan=uncordon,
        risk=Risk.TOUCH,
        rights=_WRITES_NODES,
        example="node uncordon gpu-a04",
    ),
)
