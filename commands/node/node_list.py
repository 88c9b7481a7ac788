"""The command `node list`: the troubled nodes first, and how many of the rest are fine."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from alerts.cards.message import Block, Button, Buttons, Color, Context, Message, Table
from alerts.cards.text import bold, text
from alerts.incidents.incident import Incident
from collectors.cluster.conditions import is_node_ready
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Node
from collectors.facts.sentences import Sentence, counted, listed, sentence, word
from collectors.facts.topology import Topology, shown_name
from commands.acceptance.acceptance import Acceptance, newest_of_gpus, newest_of_nodes
from commands.acceptance.acceptance_proof import cordoned_gpu_text, listed_verdict, unaccepted
from commands.core.command import Answer, Command, UnusableError
from commands.core.context import CommandContext
from commands.core.cordoned_gpus import cordoned_gpus
from commands.core.named_incident import open_incidents
from commands.core.nodes_out import taints_of_fault, why_tainted
from commands.core.parameter_types import RACK
from commands.core.parameters import flag, option
from commands.execution.plan import Plan, PlanState
from commands.gates.node_use import nodes_hit
from commands.models import CordonLease
from commands.node.cordon_state import state_of_cordon
from commands.node.out_of_service import out_of_service

SHOWN = 60
FEW = 5  # nodes without trouble that are listed rather than counted


@dataclass(frozen=True, slots=True, kw_only=True)
class ListNodes:
    rack: str
    cordoned: bool
    all: bool
    out: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed:
    """A node as it is listed. `rank`: the worse its trouble the lower; 9 without any."""

    name: str
    state: str
    gpus: str
    trainings: str
    rack: str
    rank: int

    @property
    def is_fine(self) -> bool:
        return self.rank == 9

    @property
    def row(self) -> tuple[str, ...]:
        return (self.name, self.state, self.gpus, self.trainings, self.rack)


async def listing(action: ListNodes, context: CommandContext) -> Answer:
    """Return the nodes that are not ready, have an open incident or are cordoned; the rest with `--all`."""
    inventory = context.cluster.inventory()
    open_ones = await open_incidents(context)
    async with context.store.read() as snapshot:
        rows = await snapshot.rows(CordonLease).find(cluster=context.cluster.name)
        tested = await snapshot.rows(Acceptance).find(cluster=context.cluster.name)
        running = await snapshot.rows(Plan).find(cluster=context.cluster.name, state=PlanState.RUNNING.value)
    leases, acceptances = {one.node: one for one in rows}, newest_of_nodes(tested)
    if action.out:
        working = {node: plan for plan in running for node in nodes_hit(plan)}
        found = out_of_service(inventory, leases, open_ones, context, working=working, rack=action.rack)
        return Answer(message=found)
    incidents: defaultdict[str, list[Incident]] = defaultdict(list)
    for incident in sorted(open_ones, key=lambda one: -one.severity.rank):
        incidents[incident.subject.node].append(incident)
    nodes = [
        _listed(
            node,
            inventory,
            incidents.get(name, ()),
            leases.get(name),
            acceptances.get(name),
            gpu_cordons(node, inventory, tested),
            context,
        )
        for name, node in inventory.nodes.items()
        if not action.cordoned or state_of_cordon(node, leases.get(name))
    ]
    nodes = [one for one in nodes if action.rack in ("", one.rack)]
    if not nodes:
        if not action.rack:
            raise UnusableError(sentence("No matching nodes."))
        raise UnusableError(sentence("No matching nodes. Racks: {racks}.", racks=_racks(context)))
    nodes.sort(key=lambda one: (one.rank, one.gpus == "", one.name))
    fine = [one for one in nodes if one.is_fine]
    is_whole = action.all or action.cordoned or bool(action.rack) or len(fine) <= FEW
    return Answer(message=_message(nodes, fine, is_whole=is_whole))


def _message(nodes: Sequence[_Listed], fine: Sequence[_Listed], *, is_whole: bool) -> Message:
    shown = nodes if is_whole else [one for one in nodes if not one.is_fine]
    blocks: list[Block] = []
    if shown:
        heading = ("node", "state", "GPUs", "trainings", "rack")
        rows = tuple(one.row for one in shown[:SHOWN])
        blocks.append(Table(heading=heading, rows=rows, more=max(0, len(shown) - SHOWN)))
    if not is_whole:
        blocks.append(Context(text=text(counted("{count} node fine", "{count} nodes fine", count=len(fine)))))
        blocks.append(Buttons(buttons=(Button(label="All nodes", line="node list --all"),)))
    title = counted("{count} node", "{count} nodes", count=len(nodes))
    color = Color.GOOD if len(fine) == len(nodes) else Color.INFO
    return Message(title=text(bold(title)), color=color, blocks=tuple(blocks))


def _listed(
    node: Node,
    inventory: Inventory,
    incidents: Sequence[Incident],
    lease: CordonLease | None,
    acceptance: Acceptance | None,
    kept: Sequence[str],
    context: CommandContext,
) -> _Listed:
    topology = context.cluster.topology()
    name = node.metadata.name
    facts = topology.nodes.get(name)
    trainings = {_shown(pod.user, topology) for pod in topology.pods_on.get(name, ()) if pod.user}
    return _Listed(
        name=name,
        state=listed(
            filter(
                None,
                (
                    state_of(node, lease),
                    *map(why_tainted, taints_of_fault(node)),
                    *kept,
                    listed_verdict(node, acceptance, lease.since if lease is not None else None),
                    *map(_severity_and_id, incidents),
                ),
            )
        ),
        gpus=gpus_of(inventory, name),
        trainings=", ".join(sorted(trainings)),
        rack=facts.rack if facts else "",
        rank=min(_rank(node, incidents, lease, acceptance), 6 if kept or taints_of_fault(node) else 9),
    )


def _severity_and_id(incident: Incident) -> Sentence:
    """Return `critical i3`: a node that is ready may be in trouble all the same."""
    return sentence("{severity} {incident}", severity=word(incident.severity.value), incident=incident.id)


def _shown(user: str, topology: Topology) -> str:
    """Return a training or workload as people read it everywhere else."""
    found = topology.user(user)
    return found.shown if found is not None else shown_name(user)


def _rank(
    node: Node, incidents: Sequence[Incident], lease: CordonLease | None, acceptance: Acceptance | None
) -> int:
    if not is_node_ready(node):
        return 0
    if incidents:
        return 4 - incidents[0].severity.rank
    if state_of_cordon(node, lease):
        return 5
    return 6 if unaccepted(node, acceptance) else 9


def gpu_cordons(node: Node, inventory: Inventory, tested: Sequence[Acceptance]) -> list[str]:
    """Return what is known of each GPU of the node that rules keep pods off."""
    kept = cordoned_gpus(inventory, node.metadata.name)
    newest = newest_of_gpus(tested, node.metadata.name) if kept else {}
    return [cordoned_gpu_text(one.text, node, newest.get(one.device.name)) for one in kept]


def state_of(node: Node, lease: CordonLease | None) -> str:
    """Return `Ready` or `NotReady`, and what is known of its cordon."""
    state = "Ready" if is_node_ready(node) else "NotReady"
    cordon = state_of_cordon(node, lease)
    return listed((state, cordon)) if cordon else state


def gpus_of(inventory: Inventory, node: str) -> str:
    """Return `6/8`: used of allocatable, one pair per resource."""
    gpus = inventory.gpus_on(node)
    shares = gpus.counts.values() if gpus else ()
    pairs = [f"{share.requested:g}/{share.allocatable:g}" for share in shares if share.capacity]
    return " ".join(pairs)


def _racks(context: CommandContext) -> Sentence:
    found: Mapping[str, object] = {node.rack: None for node in context.cluster.topology().nodes.values()}
    return listed(sorted(rack for rack in found if rack))


LIST: Command[ListNodes] = Command(
    noun="node",
    verb="list",
    summary="List nodes with trouble first: state, GPUs in use and trainings.",
    action=ListNodes,
    parameters=(
        option("--rack", type=RACK, help="only nodes of this rack"),
        flag("--cordoned", help="only cordoned nodes"),
        flag(
            "--out",
            help="only nodes that are out of service: since when, whose, why, and what each waits for",
        ),
        flag("--all", help="also the nodes that are fine, which are otherwise only counted"),
    ),
    read=listing,
    example="node list --rack rack-a",
)
