"""The answer of `node list --out`: which nodes are out of service, since when, whose, why, and what each waits for."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from alerts.cards.message import Color, Message, Table
from alerts.cards.text import bold, person, text
from alerts.incidents.incident import Incident
from collectors.cluster.conditions import is_node_ready
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Node
from collectors.facts.sentences import as_code, counted, listed, moment_words, sentence
from commands.core.context import CommandContext
from commands.core.cordoned_nodes import BY, against_uncordoning, annotations_of, cordon_reason
from commands.core.nodes_out import out_since, taints_of_fault, why_out
from commands.execution.plan import Plan
from commands.models import CordonLease
from commands.node.cordon_state import is_node_of

SHOWN = 60
NOT_KNOWN = sentence("not known")
NO_PLANS: Mapping[str, Plan] = {}


def out_of_service(
    inventory: Inventory,
    leases: Mapping[str, CordonLease],
    incidents: Sequence[Incident],
    context: CommandContext,
    *,
    working: Mapping[str, Plan] = NO_PLANS,
    rack: str = "",
) -> Message:
    """Return the nodes that take no pods, the longest out first; those of which that is not known at the end.

    They are those that budgets count. Of a node that others cordoned, what they left on it is known. `working`: the
    plan in progress that takes a node out.
    """
    places = context.cluster.topology().nodes
    found = [
        (node, _lease_of(node, leases))
        for name, node in inventory.nodes.items()
        if why_out(node) and rack in ("", places[name].rack if name in places else "")
    ]
    if not found:
        return Message(title=text(sentence("No node is out of service.")), color=Color.GOOD)
    since = {node.metadata.name: _since(node, lease) for node, lease in found}
    found.sort(key=lambda one: (_sorted_by(since[one[0].metadata.name]), one[0].metadata.name))
    rows = tuple(
        (
            node.metadata.name,
            moment_words(at) if (at := since[node.metadata.name]) else NOT_KNOWN,
            _whose(node, lease),
            _why(node, lease),
            _working(working.get(node.metadata.name))
            or what_it_waits_for(node, lease, incidents, context.now),
        )
        for node, lease in found
    )
    heading = ("node", "since", "whose", "why", "waits for")
    title = counted("{count} node is out of service", "{count} nodes are out of service", count=len(rows))
    table = Table(heading=heading, rows=rows[:SHOWN], more=max(0, len(rows) - SHOWN))
    return Message(title=text(bold(title)), color=Color.INFO, blocks=(table,))


def _lease_of(node: Node, leases: Mapping[str, CordonLease]) -> CordonLease | None:
    lease = leases.get(node.metadata.name)
    stands = lease is not None and lease.lifted_at is None and bool(node.spec.unschedulable)
    return lease if lease is not None and stands and is_node_of(lease, node) else None


def _sorted_by(since: datetime | None) -> tuple[bool, float]:
    return (since is None, since.timestamp() if since else 0.0)


def _since(node: Node, lease: CordonLease | None) -> datetime | None:
    return lease.since if lease is not None else out_since(node)


def _whose(node: Node, lease: CordonLease | None) -> str:
    if lease is not None:
        return person(lease.owner, lease.owner_name).text
    if not node.spec.unschedulable:
        return sentence("nobody's")
    return annotations_of(node).get(BY, "") or sentence("someone else's")


def _why(node: Node, lease: CordonLease | None) -> str:
    if not node.spec.unschedulable:
        return why_out(node)
    ready = "" if is_node_ready(node) else sentence("not ready")
    reason = lease.reason if lease is not None else cordon_reason(node)
    return listed(filter(None, (reason or sentence("no reason is written on it"), ready)))


def _working(plan: Plan | None) -> str:
    return "" if plan is None else sentence("plan {plan} of {who}", plan=plan.id, who=plan.actor_name)


def what_it_waits_for(
    node: Node, lease: CordonLease | None, incidents: Sequence[Incident], now: datetime
) -> str:
    """Return what a node that is out of service waits for."""
    if not node.spec.unschedulable:
        tainted = next(iter(taints_of_fault(node)), None) if is_node_ready(node) else None
        if tainted is not None:
            return sentence("the removal of its taint {taint}", taint=tainted.key)
        return sentence("being ready again")
    if reason := against_uncordoning(node, incidents):
        return reason
    if lease is not None and lease.until is not None and lease.until > now:
        return sentence("its end at {until}", until=lease.until)
    return as_code((f"node uncordon {node.metadata.name}",))
