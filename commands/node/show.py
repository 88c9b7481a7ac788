"""The answer of `node show`: state, GPUs, conditions, lease, what runs there, and its incidents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from alerts.cards.message import Block, Button, Buttons, Context, Fields, Message, Table
from alerts.cards.text import Text, bold, code, moment, text
from alerts.incidents.incident import Incident
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Node, Pod
from collectors.facts.results import SourceError
from collectors.facts.sentences import counted, listed, sentence, word
from collectors.facts.subjects import Subject
from collectors.facts.topology import TrainingFacts
from commands.acceptance.acceptance import Acceptance, newest_of_nodes
from commands.acceptance.acceptance_proof import acceptance_text
from commands.acceptance.trend import trend_lines
from commands.core.command import Answer
from commands.core.context import CommandContext
from commands.core.cordoned_nodes import BY, UNTIL, against_uncordoning, annotations_of, cordon_reason
from commands.core.lookups import node_named, read_node
from commands.core.matching.interpretation import FORM_OPTION
from commands.core.named_incident import open_incidents
from commands.core.nodes_out import own_taints
from commands.core.pod_usage import ENDED, POD_CPUS, POD_MEMORY, measured_use, size, trouble
from commands.node.cordon_commands import lease_of
from commands.node.node_list import gpu_cordons, state_of

PODS_SHOWN = 8
TREND = 6  # acceptances of which figures are compared


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowNode:
    node: str


async def show(action: ShowNode, context: CommandContext) -> Answer:
    """Return what is known of the node; its pods with trouble come first, and then those with the most memory."""
    inventory = context.cluster.inventory()
    try:
        node = await read_node(action.node, context)
    except SourceError:
        node = node_named(action.node, inventory)
    lease = await lease_of(action.node, context)
    incidents = await open_incidents(context)
    rows: list[tuple[str, Text]] = [("state", text(state_of(node, lease)))]
    facts = context.cluster.topology().nodes.get(action.node)
    if facts:
        rows += [
            ("rack", text(facts.rack or "?")),
            ("GPUs", text(_gpus(inventory, action.node, facts.gpu_product))),
        ]
    tested = await _tested(action.node, context)
    rows += [("GPU", text(said)) for said in gpu_cordons(node, inventory, tested)]
    rows += [*_conditions(node), *_lease_rows(node), *_acceptance_rows(node, tested)]
    rows += _workloads(action.node, context)
    for incident in incidents:
        if incident.subject.node == action.node:
            rows.append(("incident", text(code(incident.id), " ", incident.lead.summary)))
    blocks: list[Block] = [Fields(rows=tuple(rows)), *await _pods(action.node, inventory, context)]
    if buttons := _buttons(node, incidents, context):
        blocks.append(Buttons(buttons=buttons))
    title = text(bold(sentence("Node {node}", node=action.node)))
    return Answer(message=Message(title=title, blocks=tuple(blocks)))


def _buttons(node: Node, incidents: Sequence[Incident], context: CommandContext) -> tuple[Button, ...]:
    """Return what this person may do with the node, as it is now."""
    name, may = node.metadata.name, context.may
    found: list[Button] = []
    if not node.spec.unschedulable:
        found.append(Button(label="Cordon", line=f"node cordon {name}"))
    elif BY in annotations_of(node) and not against_uncordoning(node, incidents):  # others' cordons are left
        found.append(Button(label="Uncordon", line=f"node uncordon {name}"))
    found.append(Button(label="Evidence", line=f"node evidence {name}"))
    found += [
        Button(label=sentence("Untaint {taint}", taint=one), line=f"node untaint {name} {one}")
        for one in own_taints(node)
    ]
    found.append(Button(label="Taint…", line=f"node taint {name} {FORM_OPTION}"))
    return tuple(one for one in found if may.get(" ".join(one.line.split()[:2]), False))


def _gpus(inventory: Inventory, node: str, product: str) -> str:
    """Return how many GPUs are in use, which they are, and how many pods cannot get."""
    gpus = inventory.gpus_on(node)
    shares = [share for share in gpus.counts.values() if share.capacity] if gpus else []
    used = listed(
        [
            sentence("{used:g} of {capacity:g} in use", used=share.requested, capacity=share.capacity)
            for share in shares
        ]
    )
    used = listed([one for one in (product, used) if one], ":")
    lost = [share for share in shares if share.unhealthy > 0]
    if not lost:
        return used
    out = counted(
        "{count:g} of {capacity:g} is out of service",
        "{count:g} of {capacity:g} are out of service",
        count=sum(share.unhealthy for share in lost),
        capacity=sum(share.capacity for share in lost),
    )
    return listed((used, out), ";")


def _conditions(node: Node) -> list[tuple[str, Text]]:
    """Return the conditions that are as they should not be, and how many are as they should."""
    known = node.status.conditions or ()
    bad = [one for one in known if (one.type == "Ready") != (one.status == "True")]
    rows = [(one.type, text(_explained(one.status, one.reason, one.message))) for one in bad]
    if fine := len(known) - len(bad):
        rows.append(("conditions", text(sentence("{number} fine", number=fine))))
    return rows


def _explained(status: str, reason: str, message: str) -> str:
    said = f"{status} {reason}".strip()
    return f"{said}: {message}" if message else said


def _workloads(node: str, context: CommandContext) -> list[tuple[str, Text]]:
    rows = []
    for one in context.cluster.topology().affected_by(Subject(node=node)):
        kind = "training" if isinstance(one, TrainingFacts) else "workload"
        said = counted(
            "`{workload}` of {owner}, {count:g} GPU",
            "`{workload}` of {owner}, {count:g} GPUs",
            workload=one.shown,
            owner=one.owner or "?",
            count=one.gpus,
        )
        rows.append((kind, text(said)))
    return rows


async def _pods(node: str, inventory: Inventory, context: CommandContext) -> list[Block]:
    pods = [pod for pod in inventory.pods_on(node) if pod.status.phase not in ENDED]
    if not pods:
        return []
    query = partial(context.cluster.query, at=context.now)
    memory, reason = await measured_use(POD_MEMORY, pods, query)
    cpus, _ = await measured_use(POD_CPUS, pods, query)
    shown = sorted(pods, key=lambda pod: (not trouble(pod), -memory.get(pod.key, 0.0), pod.key))
    rows = tuple(_row(pod, memory, cpus) for pod in shown[:PODS_SHOWN])
    more = max(0, len(shown) - PODS_SHOWN)
    blocks: list[Block] = [Table(heading=("pod", "memory", "CPUs", "state"), rows=rows, more=more)]
    if reason:
        blocks.append(Context(text=text(sentence("What pods use is not known: {reason}", reason=reason))))
    return blocks


def _row(pod: Pod, memory: Mapping[str, float], cpus: Mapping[str, float]) -> tuple[str, ...]:
    used = size(memory[pod.key]) if pod.key in memory else ""
    busy = f"{cpus[pod.key]:.1f}" if pod.key in cpus else ""
    return (pod.key, used, busy, trouble(pod) or word(pod.status.phase or "?"))


def _lease_rows(node: Node) -> list[tuple[str, Text]]:
    found = annotations_of(node)
    if BY not in found:
        return []
    said = sentence(
        "by {who}: {reason}, until {until}",
        who=found[BY],
        reason=cordon_reason(node),
        until=_until(found.get(UNTIL, "")),
    )
    return [("cordoned", text(said))]


async def _tested(node: str, context: CommandContext) -> Sequence[Acceptance]:
    async with context.store.read() as snapshot:
        return await snapshot.rows(Acceptance).find(cluster=context.cluster.name, node=node)


def _acceptance_rows(node: Node, tested: Sequence[Acceptance]) -> list[tuple[str, Text]]:
    """Return what its newest test said, and how its figures went over the last ones."""
    found = sorted((one for one in tested if not one.device), key=lambda one: one.at)[-TREND:]
    newest = newest_of_nodes(found).get(node.metadata.name)
    rows = [("acceptance", text(said))] if (said := acceptance_text(node, newest)) else []
    return rows + [("measured", text(line)) for line in trend_lines(found)]


def _until(written: str) -> Text:
    """Return the moment in an annotation, in the reader's time; anybody may have written it."""
    try:
        return text(moment(datetime.fromisoformat(written).astimezone(UTC)))
    except (ValueError, OverflowError):
        return text(written or "?")
