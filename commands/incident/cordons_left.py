"""Cordons that stand once an incident is over: what its card says of each, and whether it suggests a test first."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from alerts.cards.incident_context import StillOpen
from alerts.cards.message import Button
from alerts.cards.text import person, text
from alerts.incidents.incident import Incident
from alerts.store import StoreSnapshot
from collectors.cluster.objects import Node
from collectors.facts.results import SourceError
from collectors.facts.sentences import Sentence, headline_of, listed, sentence
from commands.acceptance.acceptance import Acceptance, newest_of_gpus, newest_of_nodes
from commands.acceptance.acceptance_proof import is_accepted, tested_text
from commands.core.cordoned_nodes import uncordon_button
from commands.core.testable_nodes import ANY_TESTS, NodeTests
from commands.incident.seen_cluster import SeenCluster
from commands.models import CordonLease, GpuLease


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestTest:
    """What the newest test since a cordon says. `is_enough`: no other one is to be suggested."""

    text: str
    is_enough: bool = False

    def after(self, said: Sentence) -> Sentence:
        return listed((headline_of(said), self.text), ";")


async def cordons_left(
    incident: Incident, snapshot: StoreSnapshot, *, tests: NodeTests, seen: SeenCluster | None
) -> list[StillOpen]:
    """Return what remains of the cordons of its nodes, and of single GPUs there."""
    concerned = {incident.subject.node, *(member.subject.node for member in incident.members)} - {""}
    if not concerned:
        return []
    # Of ours, also those made for an earlier incident.
    leases = await snapshot.rows(CordonLease).find(cluster=incident.cluster, node=sorted(concerned))
    gpu_leases = await snapshot.rows(GpuLease).find(cluster=incident.cluster, node=sorted(concerned))
    nodes = {lease.node for lease in leases} | {lease.node for lease in gpu_leases}
    known = _seen(nodes, seen)
    tested = (
        await snapshot.rows(Acceptance).find(cluster=incident.cluster, node=sorted(nodes)) if nodes else ()
    )
    found: list[StillOpen] = []
    for lease in sorted(leases, key=lambda one: one.node):
        of_node = [one for one in tested if one.node == lease.node and not one.device]
        newest = newest_of_nodes(of_node).get(lease.node)
        found.append(
            still_cordoned(
                lease,
                is_tested=_has_gpu_fault(incident, lease.node),
                tests=tests,
                verdict=_verdict(of_node, newest, known.get(lease.node), lease.since),
            )
        )
    for gpu in sorted(gpu_leases, key=lambda one: one.id):
        of_gpu = [one for one in tested if (one.node, one.device) == (gpu.node, gpu.device)]
        verdict = _verdict(
            of_gpu, newest_of_gpus(of_gpu, gpu.node).get(gpu.device), known.get(gpu.node), gpu.since
        )
        found.append(still_cordoned_gpu(gpu, tests=tests, verdict=verdict))
    return found


def _seen(names: Iterable[str], seen: SeenCluster | None) -> dict[str, Node]:
    """Return the nodes as they are now; none while they cannot be seen."""
    try:
        nodes = seen.inventory().nodes if seen is not None else {}
    except SourceError:
        return {}
    return {name: nodes[name] for name in names if name in nodes}


def _verdict(
    tested: Iterable[Acceptance], newest: Acceptance | None, node: Node | None, since: datetime
) -> NewestTest | None:
    """Return what is known of a test since the cordon, as the node is now: it may have been rebooted after it."""
    if node is None:
        return None
    if any(not one.is_over and one.at >= since for one in tested):
        return NewestTest(text=sentence("it is being tested"), is_enough=True)
    if newest is None or newest.at < since:
        return None
    return NewestTest(text=tested_text(node, newest), is_enough=is_accepted(node, newest))


def still_cordoned_gpu(
    lease: GpuLease, *, tests: NodeTests = ANY_TESTS, verdict: NewestTest | None = None
) -> StillOpen:
    """Return what remains of a cordon of one GPU, which is to be tested before it returns."""
    said = sentence(
        "GPU {gpu} of `{node}` is still cordoned until {at}, by {who}.",
        gpu=lease.gpu,
        node=lease.node,
        at=lease.until,
        who=person(lease.owner, lease.owner_name),
    )
    is_offered = tests.of_one_gpu and not tests.lack
    if verdict is not None:
        said, is_offered = verdict.after(said), is_offered and not verdict.is_enough
    label = sentence("Uncordon GPU {gpu} of {node}", gpu=lease.gpu, node=lease.node)
    first = Button(
        label=sentence("Test GPU {gpu} of {node}", gpu=lease.gpu, node=lease.node),
        line=f"gpu accept {lease.node} {lease.gpu}",
    )
    return StillOpen(
        text=text(said),
        button=Button(label=label, line=f"gpu uncordon {lease.node} {lease.gpu}"),
        first=first if is_offered else None,
    )


def _has_gpu_fault(incident: Incident, node: str) -> bool:
    return any(
        member.subject.node == node and (member.subject.gpu or member.name.startswith("GPU"))
        for member in incident.members
    )


def still_cordoned(
    lease: CordonLease,
    *,
    is_tested: bool = False,
    tests: NodeTests = ANY_TESTS,
    verdict: NewestTest | None = None,
) -> StillOpen:
    """Return what remains of a cordon: the cordon, or only its lease if somebody else lifted it.

    `is_tested`: the node is to be tested before it returns.
    """
    if lease.lifted_at is not None:
        return StillOpen(
            text=text(
                sentence(
                    "Somebody else lifted the cordon of `{node}`, but its lease is still there.",
                    node=lease.node,
                )
            ),
            button=uncordon_button(lease.node, is_lifted=lease.lifted_at is not None),
        )
    node, why, who = lease.node, lease.reason, person(lease.owner, lease.owner_name)
    said = (
        sentence(
            "`{node}` is still cordoned until {at}: {reason}, by {who}.",
            node=node,
            at=lease.until,
            reason=why,
            who=who,
        )
        if lease.until
        else sentence("`{node}` is still cordoned: {reason}, by {who}.", node=node, reason=why, who=who)
    )
    label = sentence("Test {node}", node=lease.node)
    is_offered = is_tested and not tests.lack
    if verdict is not None:
        said, is_offered = verdict.after(said), is_offered and not verdict.is_enough
    elif is_tested and tests.lack:
        said = listed((said, tests.lack), ".")
    return StillOpen(
        text=text(said),
        button=uncordon_button(lease.node, is_lifted=lease.lifted_at is not None),
        first=Button(label=label, line=f"node accept {lease.node}") if is_offered else None,
    )
