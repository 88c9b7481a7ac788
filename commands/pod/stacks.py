"""`pod stacks`: what the ranks of a training, or the processes of a pod, do now, by a program of the fixed list."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import click

from collectors.cluster.objects import Pod
from collectors.facts.sentences import Sentence, counted, listed, sentence
from commands.core.command import Command, PlanDraft, UnknownNameError, UnusableError
from commands.core.context import CommandContext
from commands.core.lookups import reader_of
from commands.core.named_pod import pod_named, ref_of_pod
from commands.core.parameter_types import POD_OR_TRAINING, ChoiceType
from commands.core.parameters import flag, option
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Stage
from commands.execution.steps import Exec, Patch
from commands.execution.tools.tool_list import TOOLS
from commands.training.lookup import training_named

AT_ONCE = 8
MOST = 128  # pods of one plan
NAMED = 8
WITHIN = 60.0  # seconds: a program in one container
STARTS_WITHIN = 180.0  # the same in a container whose image is pulled first
STAYS = 600  # seconds until a container that was added ends by itself
ADDED = "yardmaster-stacks"  # the name of a container that is added, with a number


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowStacks:
    pod: str
    tool: str
    container: str
    add_container: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    pod: Pod
    rank: str  # what people call it


async def stacks(action: ShowStacks, context: CommandContext) -> PlanDraft:
    """Plan to run the program in each running pod: in its own container, or in one that is added to it."""
    shown, found, others = _targets(action.pod, context)
    if not found:
        raise UnusableError(
            sentence("No pod of {what} runs now: {others}.", what=shown, others=listed(others, most=NAMED))
        )
    targets, more = found[:MOST], len(found) - MOST
    stages: list[Stage] = []
    containers = {one.pod.key: _container(one.pod, action.container) for one in targets}
    if action.add_container:
        patches, containers = await _added(targets, containers, context)
        stages.append(Stage(steps=patches, at_once=AT_ONCE))
    tool = TOOLS[action.tool]
    execs = tuple(
        Exec(
            ref=ref_of_pod(one.pod),
            description=sentence("run {tool} in {pod}", tool=tool.name, pod=one.pod.key),
            tool=tool.name,
            container=containers[one.pod.key],
            rank=one.rank,
            seconds=STARTS_WITHIN if action.add_container else WITHIN,
        )
        for one in targets
    )
    stages.append(Stage(steps=execs, at_once=AT_ONCE))
    return PlanDraft(
        title=counted(
            "Run {tool} in {count} pod of {what}",
            "Run {tool} in {count} pods of {what}",
            count=len(targets),
            tool=tool.name,
            what=shown,
        ),
        stages=tuple(stages),
        decided=(sentence("run {tool}", tool=tool.name),),
        notes=tuple(_notes(action, more, others)),
    )


def _targets(name: str, context: CommandContext) -> tuple[str, list[_Target], list[str]]:
    """Return what was named, its running pods, and those that do not run. Raises UnusableError for an unknown name."""
    inventory = context.cluster.inventory()
    if name not in inventory.pods:
        try:
            training = training_named(name, context.cluster.trainings())
        except UnknownNameError:
            return _of_pod(pod_named(name, inventory))
        pods = [
            (inventory.pods.get(f"{training.namespace}/{rank.pod}"), f"{rank.role} {rank.index}")
            for rank in training.ranks
        ]
        ordered = [(pod, rank) for pod, rank in pods if pod is not None]
        return (
            training.shown,
            [_Target(pod=pod, rank=rank) for pod, rank in ordered if _runs(pod)],
            [rank for pod, rank in ordered if not _runs(pod)],
        )
    return _of_pod(pod_named(name, inventory))


def _of_pod(pod: Pod) -> tuple[str, list[_Target], list[str]]:
    runs = _runs(pod)
    return (
        pod.key,
        [_Target(pod=pod, rank=pod.metadata.name)] if runs else [],
        [] if runs else [pod.metadata.name],
    )


def _runs(pod: Pod) -> bool:
    return pod.status.phase == "Running" and pod.metadata.deletion_timestamp is None


def _container(pod: Pod, wanted: str) -> str:
    """Return the container: the one that is asked for, else the first. Raises UnusableError if it has no such one."""
    names = [one.name for one in pod.spec.containers or ()]
    if not wanted:
        return names[0] if names else ""
    if wanted not in names:
        raise UnusableError(
            sentence(
                "{pod} has no container `{name}`: {names}.",
                pod=pod.key,
                name=wanted[:80],
                names=listed(names),
            )
        )
    return wanted


async def _added(
    targets: Sequence[_Target], containers: dict[str, str], context: CommandContext
) -> tuple[tuple[Patch, ...], dict[str, str]]:
    """Return the steps that add a container to each pod, and its name by pod. Those that are there stay."""
    if not context.defaults.stacks_image:
        raise UnusableError(
            sentence(
                "No image is set for added containers: set `commands.stacks_image` to one that has py-spy, such as a "
                "copy of it in your registry."
            )
        )
    reader = reader_of(context)
    patches: list[Patch] = []
    names: dict[str, str] = {}
    for one in targets:
        ref = ref_of_pod(one.pod)
        found = await reader.read(ref)
        if found is None:
            raise UnusableError(sentence("{pod} is gone.", pod=one.pod.key))
        there = list(found["spec"].get("ephemeralContainers") or ())
        name = f"{ADDED}-{len(there) + 1}"
        names[one.pod.key] = name
        patches.append(_patch(ref, there, name, containers[one.pod.key], context.defaults.stacks_image))
    return tuple(patches), names


def _patch(ref: ObjectRef, there: list[dict[str, Any]], name: str, target: str, image: str) -> Patch:
    container = {
        "name": name,
        "image": image,
        "command": ["sleep", str(STAYS)],
        "targetContainerName": target,  # whose processes it sees
        "securityContext": {"capabilities": {"add": ["SYS_PTRACE"]}},
        "imagePullPolicy": "IfNotPresent",
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }
    return Patch(
        ref=ref,
        description=sentence(
            "add container {name} to {pod}, which sees its processes",
            name=name,
            pod=f"{ref.namespace}/{ref.name}",
        ),
        body={"spec": {"ephemeralContainers": [*there, container]}},
        subresource="ephemeralcontainers",
    )


def _notes(action: ShowStacks, more: int, others: Iterable[str]) -> Iterable[Sentence]:
    tool = TOOLS[action.tool]
    yield sentence("It is run to {shows}, as the user of the container.", shows=tool.shows)
    if left := list(others):
        yield sentence("These do not run and are left out: {ranks}.", ranks=listed(left, most=NAMED))
    if more > 0:
        yield counted(
            "{count} more pod is left out: {most} at once.",
            "{count} more pods are left out: {most} at once.",
            count=more,
            most=MOST,
        )
    if action.add_container:
        yield sentence(
            "The added container ends after {minutes} minutes. Kubernetes keeps it in the pod's list until "
            "the pod ends.",
            minutes=STAYS // 60,
        )
    else:
        yield sentence(
            "Where a container does not have it, `--add-container` runs it from the image of the settings."
        )


STACKS: Command[ShowStacks] = Command(
    noun="pod",
    verb="stacks",
    summary="Show what the processes of a pod, or the ranks of a training, do now.",
    action=ShowStacks,
    parameters=(
        click.Argument(["pod"], type=POD_OR_TRAINING),
        option(
            "--tool",
            type=ChoiceType(TOOLS),
            default="py-spy",
            metavar="TOOL",
            help=f"what is run: {', '.join(TOOLS)}; default: py-spy",
        ),
        option("--container", metavar="CONTAINER", help="default: the first"),
        flag(
            "--add-container", help="run it in a container that is added to the pod, from the settings' image"
        ),
    ),
    plan=stacks,
    rights=(*Exec.rights("", "pods"), *Patch.rights("", "pods/ephemeralcontainers")),
    example="pod stacks detr",
    details=sentence(
        "The programs are a fixed list, and nothing that is typed reaches a command line. Their output is "
        "bounded, redacted and grouped by rank: `63 of 64 wait in all_reduce`, `1 of 64 (worker 17) in the data "
        "loader`. "
        "py-spy needs the capability SYS_PTRACE in its container; `--add-container` adds an ephemeral container with "
        "it, which the rules of the namespace (Pod Security) may forbid. {most} pods at once.",
        most=MOST,
    ),
)
