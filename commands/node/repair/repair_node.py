"""`node repair`: run one repair of the list on one node, as a Job that is removed afterwards."""

from dataclasses import dataclass

from collectors.cluster.objects import Node
from collectors.facts.sentences import as_code, sentence
from commands.core.command import Command, PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.lookups import read_node
from commands.core.node_jobs import job_step, refuse_second
from commands.core.node_script import NAMESPACE, Repair
from commands.core.parameter_types import NameKind, NameType, WholeNumberType
from commands.core.parameters import NODE_ARGUMENT, option
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import in_order
from commands.execution.preconditions import Precondition
from commands.execution.steps import NodeJob, Patch, Step, Wait
from commands.node.cordon_steps import ref_of_node
from commands.node.repair.refusals import Holder, holders, pods_of, refuse_busy, refuse_node
from commands.node.repair.repair_list import own_repairs, repair_named

STOPPED_WITHIN = 180.0  # seconds until the pod of a node agent is gone


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairNode:
    node: str
    repair: str
    gpu: int | None


async def repair_node(action: RepairNode, context: CommandContext) -> PlanDraft:
    """Plan the repair, with every precondition read from the cluster first."""
    repair = repair_named(action.repair, context)
    index = _index(action, repair)
    node = await read_node(action.node, context)
    name = node.metadata.name
    refuse_node(node, repair)
    await refuse_second(node, context)
    pods = await pods_of(node, context)
    refuse_busy(node, pods, repair, context)
    stopped = holders(node, pods, repair)
    env = {"GPU_INDEX": str(index)} if index is not None else {}
    job = job_step(repair.script, node, context, description=_description(repair, name, index), env=env)
    labels = dict.fromkeys(one.label for one in stopped)
    steps: list[Step] = [*_pause(node, tuple(labels), stopped), job, *_resume(node, tuple(labels))]
    title = (
        sentence("Repair {node}: {summary}", node=name, summary=repair.summary)
        if index is None
        else sentence(
            "Repair GPU {index} of {node}: {summary}", index=index, node=name, summary=repair.summary
        )
    )
    return PlanDraft(
        title=title,
        stages=in_order(*steps),
        notes=_notes(repair, job, stopped),
        relieves=repair.relieves,
        breaks=(sentence("{why}", why=repair.second_person),) if repair.second_person else (),
        decided=(
            sentence(
                "repair {repair} of node {node} with uid {uid}",
                repair=repair.name,
                node=name,
                uid=node.metadata.uid,
            ),
        ),
    )


def _index(action: RepairNode, repair: Repair) -> int | None:
    if repair.has_index and action.gpu is None:
        raise UnusableError(
            sentence("`{repair}` is about one GPU: name it with `--gpu INDEX`.", repair=repair.name)
        )
    if not repair.has_index and action.gpu is not None:
        raise UnusableError(sentence("`{repair}` is about the node: leave `--gpu` out.", repair=repair.name))
    return action.gpu


def _description(repair: Repair, node: str, index: int | None) -> str:
    if index is None:
        return sentence(
            "run `{repair}` on {node}: {summary}", repair=repair.name, node=node, summary=repair.summary
        )
    return sentence(
        "run `{repair}` for GPU {index} of {node}: {summary}",
        repair=repair.name,
        index=index,
        node=node,
        summary=repair.summary,
    )


def _pause(node: Node, labels: tuple[str, ...], stopped: list[Holder]) -> list[Step]:
    """Return the steps that take the agents off the node and wait until their pods are gone."""
    if not labels:
        return []
    off: Step = Patch(
        ref=ref_of_node(node),
        description=sentence(
            "stop {agents} on {node}, by the labels of the GPU operator",
            agents=as_code(labels),
            node=node.metadata.name,
        ),
        body={"metadata": {"labels": dict.fromkeys(labels, "false")}},
        requires=tuple(Precondition(path=("metadata", "labels", label), equals="true") for label in labels),
        undo={"metadata": {"labels": dict.fromkeys(labels, "true")}},
        undo_text=sentence("start the agents of {node} again", node=node.metadata.name),
    )
    waits: list[Step] = [
        Wait(
            ref=ObjectRef(
                api="v1",
                kind="Pod",
                namespace=one.pod.metadata.namespace,
                name=one.pod.metadata.name,
                uid=one.pod.metadata.uid,
            ),
            description=sentence("wait until {pod} is gone", pod=one.pod.metadata.name),
            is_gone=True,
            seconds=STOPPED_WITHIN,
        )
        for one in stopped
    ]
    return [off, *waits]


def _resume(node: Node, labels: tuple[str, ...]) -> list[Step]:
    if not labels:
        return []
    return [
        Patch(
            ref=ref_of_node(node),
            description=sentence(
                "start {agents} on {node} again", agents=as_code(labels), node=node.metadata.name
            ),
            body={"metadata": {"labels": dict.fromkeys(labels, "true")}},
        )
    ]


def _notes(repair: Repair, job: NodeJob, stopped: list[Holder]) -> tuple[str, ...]:
    pod = job.manifest["spec"]["template"]["spec"]
    image = pod["containers"][0]["image"]
    run = repair.script
    where = (
        sentence(
            "It runs as root on the node, in a privileged pod of namespace {namespace} with the image {image}, "
            "for at most {within}; the pod is removed afterwards.",
            namespace=job.job.namespace,
            image=image,
            within=run.within,
        )
        if run.on_host or run.privileged
        else sentence(
            "It runs in a pod of namespace {namespace} with the image {image}, for at most {within}; "
            "the pod is removed afterwards.",
            namespace=job.job.namespace,
            image=image,
            within=run.within,
        )
    )
    notes: list[str] = [where, sentence("Its log is shown here while it runs. It cannot be undone.")]
    if stopped:
        notes.append(
            sentence(
                "If it fails, the stopped agents stay stopped, so that somebody can look: Undo starts them again."
            )
        )
    return tuple(notes)


REPAIR = Command(
    noun="node",
    verb="repair",
    summary="Run a repair of the fixed list on a node, as a Job.",
    action=RepairNode,
    parameters=(
        NODE_ARGUMENT,
        option(
            "--with",
            "repair",
            type=NameType(NameKind.REPAIR, keeps_case=True, is_listed=False, names=own_repairs()),
            required=True,
            metavar="NAME",
            help="which repair of the list",
        ),
        option(
            "--gpu", type=WholeNumberType(most=63), metavar="INDEX", help="the GPU, for a repair of one GPU"
        ),
    ),
    plan=repair_node,
    rights=(
        *NodeJob.rights("batch", "jobs", namespace=NAMESPACE),
        *Patch.rights("", "nodes"),
        *Wait.rights("", "pods"),
    ),
    example="node repair gpu-a04 --with nvidia-uvm",
    details=sentence(
        "The list: {repairs}, and those of the setting `repairs`. Each says what must hold first, and "
        "whether a second person has to confirm it. One Job runs on a node at a time; its log is shown "
        "while it runs. The image is the setting `node_jobs.image`.",
        repairs=as_code(own_repairs()),
    ),
)
