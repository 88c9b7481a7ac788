"""Planning of `node cordon` and `node uncordon`: a cordon is a lease, which a second one extends."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from alerts.incidents.incident import Incident
from collectors.cluster.conditions import is_node_ready
from collectors.cluster.objects import Node
from collectors.facts.sentences import Sentence, counted, listed, sentence
from collectors.facts.subjects import Subject
from commands.core.command import PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.cordoned_nodes import BY, against_uncordoning, annotations_of, cordoned_by, lost_gpu
from commands.core.dns_after_cordon import notes_on_cordon
from commands.core.lookups import read_node
from commands.core.named_incident import open_incidents
from commands.execution.plan import in_order
from commands.execution.steps import Patch, Record
from commands.models import CordonLease
from commands.node.acceptance_steps import return_step
from commands.node.cordon_steps import (
    cordon_steps,
    ended_step,
    ended_without_node,
    extension_steps,
    forgotten_steps,
    uncordon_step,
)
from commands.training.stop import lost_work


@dataclass(frozen=True, slots=True, kw_only=True)
class CordonNodes:
    nodes: tuple[str, ...]
    reason: str
    lasting: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UncordonNodes:
    nodes: tuple[str, ...]


async def cordon(action: CordonNodes, context: CommandContext) -> PlanDraft:
    """Plan a cordon: running pods stay, and no new pods are scheduled until it is lifted.

    With `--for`, the lease of a node that is cordoned already is extended, whoever has it.
    """
    incidents = await open_incidents(context)
    new: list[Patch | Record] = []
    longer: list[Patch | Record] = []
    notes: list[str] = []
    already: list[str] = []
    newly: list[str] = []
    lasting = action.lasting if action.lasting is not None else context.defaults.cordon_for
    for name in dict.fromkeys(action.nodes):
        node = await read_node(name, context)
        if not node.spec.unschedulable:
            newly.append(name)
            new += cordon_steps(node, action.reason, context, lasting)
            notes += await _training_notes(node, incidents, context)
        elif action.lasting is not None and BY in annotations_of(node):
            lease = await lease_of(name, context)
            longer += extension_steps(node, lease, action.reason, context, lasting)
        elif BY in annotations_of(node):
            already.append(
                sentence(
                    "{node} is already cordoned by {who}; `node extend {node} --for 4h` extends it.",
                    node=name,
                    who=cordoned_by(node),
                )
            )
        else:
            already.append(sentence("{node} is already cordoned by {who}.", node=name, who=cordoned_by(node)))
    if not new and not longer:
        return PlanDraft.nothing(listed(already, "."))
    notes += notes_on_cordon(newly, context)
    titles = [sentence("Cordon {nodes}", nodes=_nodes_of(new))] if new else []
    titles += [sentence("Extend the cordon of {nodes}", nodes=_nodes_of(longer))] if longer else []
    notes.append(
        sentence(
            "The lease ends in {lasting} with a reminder; only `node uncordon` lifts the cordon.",
            lasting=lasting,
        )
    )
    return PlanDraft(title=listed(titles, ";"), stages=in_order(*new, *longer), notes=(*notes, *already))


async def _training_notes(node: Node, incidents: Sequence[Incident], context: CommandContext) -> list[str]:
    """Return what becomes of each training and workload with GPUs on a node that is cordoned."""
    name, lost = node.metadata.name, lost_gpu(node, incidents)
    notes: list[str] = []
    for training in context.cluster.topology().affected_by(Subject(node=name)):
        user = _with_gpus(training.shown, training.owner, training.gpus)
        if lost:
            dies = sentence(
                "{user} is on {node} and will probably die ({lost}): a cordon does not move it.",
                user=user,
                node=name,
                lost=lost,
            )
            notes.append(listed(filter(None, (dies, await _lost_work(training.id, context))), "."))
        elif not is_node_ready(node):
            ends = sentence(
                "{user} runs on {node}, which is not ready: Kubernetes evicts the node's pods after a while, cordoned "
                "or not.",
                user=user,
                node=name,
            )
            notes.append(listed(filter(None, (ends, await _lost_work(training.id, context))), "."))
        else:
            notes.append(
                sentence(
                    "{user} runs on {node} and continues: a cordon evicts nothing.", user=user, node=name
                )
            )
    return notes


def _with_gpus(user: str, owner: str, gpus: float) -> Sentence:
    if not owner:
        return counted("{user} ({count:g} GPU)", "{user} ({count:g} GPUs)", user=user, count=gpus)
    return counted(
        "{user} of {owner} ({count:g} GPU)",
        "{user} of {owner} ({count:g} GPUs)",
        user=user,
        owner=owner,
        count=gpus,
    )


async def lease_of(node: str, context: CommandContext) -> CordonLease | None:
    async with context.store.read() as snapshot:
        return await snapshot.rows(CordonLease).get(f"{context.cluster.name}/{node}")


async def uncordon(action: UncordonNodes, context: CommandContext) -> PlanDraft:
    """Plan to lift cordons made by Yardmaster; others are left alone."""
    steps: list[Patch | Record] = []
    already: list[str] = []
    incidents = await open_incidents(context)
    for name in dict.fromkeys(action.nodes):
        lease = await lease_of(name, context)
        if lease is not None and name not in context.cluster.inventory().nodes:
            steps.append(ended_without_node(lease))
            already.append(sentence("{node} is not in the cluster: only its lease is ended.", node=name))
            continue
        node = await read_node(name, context)
        annotations = annotations_of(node)
        if not node.spec.unschedulable:
            if cleanup := forgotten_steps(node, lease):
                steps += cleanup
                already.append(
                    sentence(
                        "{node} is no longer cordoned: its lease and annotations are removed.", node=name
                    )
                )
            else:
                already.append(sentence("{node} is not cordoned.", node=name))
            continue
        if BY not in annotations and lease is not None:
            steps.append(ended_step(node, lease, has_inverse=False))
            already.append(
                sentence(
                    "The cordon of {node} is not ours any more: it stays, and only its lease is ended.",
                    node=name,
                )
            )
            continue
        if BY not in annotations:
            raise UnusableError(
                sentence(
                    "{node} was not cordoned by Yardmaster, so the cordon cannot be lifted here. Ask its "
                    "owner, or use `kubectl uncordon {node}`.",
                    node=name,
                )
            )
        if reason := against_uncordoning(node, incidents):
            already.append(sentence("Careful with {node}: {reason}.", node=name, reason=reason))
        steps.append(uncordon_step(node))
        if lease is not None:
            steps.append(ended_step(node, lease, has_inverse=True))
        returned, why_not = await return_step(node, lease, context)
        steps += [returned] if returned is not None else []
        already += [why_not] if why_not else []
    if not steps:
        return PlanDraft.nothing(listed(already, "."))
    return PlanDraft(
        title=sentence("Uncordon {nodes}", nodes=_nodes_of(steps)),
        stages=in_order(*steps),
        notes=tuple(already),
    )


async def _lost_work(training: str, context: CommandContext) -> str:
    found = next((one for one in context.cluster.trainings() if one.id == training), None)
    return await lost_work(found, context) if found is not None else ""


def _nodes_of(steps: Sequence[Patch | Record]) -> Sentence:
    """The nodes whose objects or leases are changed, each once, in order."""
    # A lease is cluster/node, an acceptance cluster/node/number.
    names = (step.ref.name if isinstance(step, Patch) else step.id.split("/")[1] for step in steps)
    return listed(dict.fromkeys(names))
