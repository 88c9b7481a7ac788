"""This file has `node list|show|cordon|uncordon`. A cordon is a lease: owner, reason, incident, until."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import click

from alerts.cards.message import Block, Button, Buttons, Fields, Message, Table, Text, bold, code, text
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Node
from collectors.facts.durations import in_words
from collectors.facts.subjects import Subject
from commands.command import Answer, Command, Draft, Right, UnusableError
from commands.cordons import BY, REASON, UNTIL, cordon_steps, forgotten_steps, uncordon_step
from commands.desk import Desk
from commands.looks import annotations_of, is_ready, node_named
from commands.options import DURATION
from commands.plans import Risk
from commands.records import forget
from commands.steps import Patch, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    rack: str
    cordoned: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cordon:
    nodes: tuple[str, ...]
    reason: str
    lasting: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncordon:
    nodes: tuple[str, ...]


async def listing(deed: Listing, desk: Desk) -> Answer:
    """Nodes with their rack, state, GPUs in use, and the trainings on them; GPU nodes first."""
    inventory, topology = desk.site.inventory(), desk.site.topology()
    rows = []
    for name, node in sorted(inventory.nodes.items()):
        facts = topology.nodes.get(name)
        rack = facts.rack if facts else ""
        if (deed.rack and rack != deed.rack) or (deed.cordoned and not node.spec.unschedulable):
            continue
        trainings = sorted(
            {pod.training.rpartition("/")[2] for pod in topology.pods_on.get(name, ()) if pod.training}
        )
        rows.append((name, rack, _state(node), _gpus(inventory, name), ", ".join(trainings)))
    rows.sort(key=lambda row: (row[3] == "", row[0]))
    if not rows:
        raise UnusableError("No node is like that." + (f" Racks: {_racks(desk)}." if deed.rack else ""))
    table = Table(
        heading=("node", "rack", "state", "GPUs", "trainings"),
        rows=tuple(rows[:60]),
        more=max(0, len(rows) - 60),
    )
    return Answer(
        message=Message(title=text(bold(f"{len(rows)} node{'s' if len(rows) != 1 else ''}")), blocks=(table,))
    )


async def show(deed: Named, desk: Desk) -> Answer:
    inventory = desk.site.inventory()
    node = node_named(deed.node, inventory)
    rows: list[tuple[str, Text]] = [("state", text(_state(node)))]
    facts = desk.site.topology().nodes.get(deed.node)
    if facts:
        rows += [
            ("rack", text(facts.rack or "?")),
            ("GPUs", text(f"{_gpus(inventory, deed.node)} {facts.gpu_product}")),
        ]
    for condition in node.status.conditions or ():
        if (condition.type == "Ready") != (condition.status == "True"):
            rows.append((condition.type, text(f"{condition.status} {condition.reason}: {condition.message}")))
    rows += _lease_rows(node)
    for hurt in desk.site.topology().affected_by(Subject(node=deed.node)):
        rows.append(("training", text(code(hurt.id), f" of {hurt.owner or '?'}, {hurt.gpus:g} GPUs")))
    async with desk.store.unit() as unit:
        incidents = await unit.incidents.find(cluster=desk.site.name, state="open")
    for incident in incidents:
        if incident.subject.node == deed.node:
            rows.append(("incident", text(code(incident.id), f" {incident.lead.summary}")))
    verb = "uncordon" if node.spec.unschedulable else "cordon"
    blocks: tuple[Block, ...] = (Fields(rows=tuple(rows)),)
    if desk.may.get(f"node {verb}", False):
        blocks += (Buttons(buttons=(Button(label=verb.capitalize(), line=f"node {verb} {deed.node}"),)),)
    return Answer(message=Message(title=text(bold(f"Node {deed.node}")), blocks=blocks))


async def cordon(deed: Cordon, desk: Desk) -> Draft:
    """No pod is touched; nothing new is placed there until it is uncordoned."""
    inventory, topology = desk.site.inventory(), desk.site.topology()
    steps: list[Patch | Record] = []
    notes: list[str] = []
    already: list[str] = []
    lasting = deed.lasting if deed.lasting is not None else desk.policy.cordon_for
    for name in dict.fromkeys(deed.nodes):
        node = node_named(name, inventory)
        if node.spec.unschedulable:
            already.append(f"{name} is cordoned already, by {_whose(node)}")
            continue
        steps += cordon_steps(node, deed.reason, desk, lasting)
        for training in topology.affected_by(Subject(node=name)):
            owner = f" of {training.owner}" if training.owner else ""
            notes.append(
                f"{training.id}{owner} ({training.gpus:g} GPUs) runs on {name} and goes on: a cordon moves nothing."
            )
    if not steps:
        return Draft(title="", nothing="; ".join(already) + ".")
    notes.append(
        f"A lease of {in_words(lasting)}: then you are reminded; it is lifted by `node uncordon`, not by itself."
    )
    return Draft(title=f"Cordon {_nodes_of(steps)}", steps=tuple(steps), notes=(*notes, *already))


async def uncordon(deed: Uncordon, desk: Desk) -> Draft:
    """Only a cordon of ours is lifted; another's is left as it is."""
    inventory = desk.site.inventory()
    steps: list[Patch | Record] = []
    free: list[str] = []
    for name in dict.fromkeys(deed.nodes):
        node = node_named(name, inventory)
        notes = annotations_of(node)
        async with desk.store.unit() as unit:
            lease = await unit.leases.get(f"{desk.site.name}/{name}")
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
        return Draft(title="", nothing=" ".join(free))
    return Draft(title=f"Uncordon {_nodes_of(steps)}", steps=tuple(steps), notes=tuple(free))


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


def _racks(desk: Desk) -> str:
    return ", ".join(sorted({node.rack for node in desk.site.topology().nodes.values() if node.rack}))


_WRITES_NODES = (Right(group="", resources=("nodes",), verbs=("get", "patch")),)

COMMANDS = (
    Command(
        noun="node",
        verb="list",
        summary="List nodes: state, GPUs in use, trainings on them.",
        deed=Listing,
        parameters=(
            click.Option(["--rack"], default="", metavar="RACK"),
            click.Option(["--cordoned"], is_flag=True, help="only those"),
        ),
        look=listing,
        example="node list --rack rack-a",
    ),
    Command(
        noun="node",
        verb="show",
        summary="Show a node: conditions, lease, trainings, incidents.",
        deed=Named,
        parameters=(click.Argument(["node"]),),
        look=show,
        example="node show gpu-a04",
    ),
    Command(
        noun="node",
        verb="cordon",
        summary="Keep new pods off nodes, as a lease with owner, reason and end.",
        deed=Cordon,
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
        deed=Uncordon,
        parameters=(click.Argument(["nodes"], nargs=-1, required=True, metavar="NODE"),),
        plan=uncordon,
        risk=Risk.TOUCH,
        rights=_WRITES_NODES,
        example="node uncordon gpu-a04",
    ),
)
