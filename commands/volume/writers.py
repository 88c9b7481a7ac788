"""Writers of a volume, and how each is stopped: the steps, whom they disrupt, and what cannot be held."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from collectors.cluster.indexes import controller_of, workload_name
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Pod
from collectors.facts.results import SourceError
from collectors.facts.sentences import counted, listed, said_by, sentence
from collectors.facts.topology import GpuUser
from collectors.facts.workload_keys import parse_workload, shown_kind
from collectors.trainings.training import Training
from collectors.volume_use import VolumeUse
from commands.core.command import UnusableError
from commands.core.context import CommandContext
from commands.execution.disruption import Disruption
from commands.execution.object_refs import ObjectRef
from commands.execution.steps import Evict, Patch, Step
from commands.training.stop import disruption_of, lost_work
from commands.training.workload_steps import can_suspend, suspend_steps, suspended

EVICTED_WITHIN = 600.0  # seconds: a pod's grace period, and a disruption budget
_MIRROR = "kubernetes.io/config.mirror"  # the annotation of a static pod, which only its kubelet can end


@dataclass(slots=True, kw_only=True)
class Stopped:
    """The steps that stop what writes. `left`: what goes on writing, each with the reason."""

    parts: list[tuple[str, tuple[Step, ...]]] = field(default_factory=list)  # by what they stop
    disrupts: list[Disruption] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


async def stop_writers(use: VolumeUse, context: CommandContext) -> Stopped:
    """Return how everything that may write to the volume is stopped, whether it has pods yet or not."""
    inventory = context.cluster.inventory()
    topology = context.cluster.topology()
    made = Stopped()
    held: dict[str, list[Pod]] = {workload: [] for workload in use.templates}
    bare: list[Pod] = []
    for user in use.writers:
        if holder := _holder(user.pod, inventory):
            held.setdefault(holder, []).append(user.pod)
        else:
            bare.append(user.pod)
    by_workload = _trainings_by_workload(context.cluster.trainings())
    stopped: dict[str, Training] = {}
    for workload, pods in held.items():
        if (training := by_workload.get(workload)) is not None:
            stopped[training.id] = training
        else:
            _stop_workload(workload, pods, inventory, made, topology.user(workload))
    for training in stopped.values():
        await _stop_training(training, context, made)
    for pod in bare:
        _stop_pod(pod, inventory, made)
    return made


async def hold_schedules(use: VolumeUse, context: CommandContext) -> tuple[list[Step], list[str]]:
    """Return the steps that suspend the CronJobs that would start a writer, and what is not known of them."""
    if (reader := context.cluster.reader) is None:
        return [], []
    steps: list[Step] = []
    for namespace in sorted({claim.partition("/")[0] for claim in use.claims}):
        try:
            found = await reader.listing(
                ObjectRef(api="batch/v1", kind="CronJob", namespace=namespace, name="")
            )
        except SourceError as error:
            return steps, [
                sentence(
                    "CronJobs cannot be listed, so one of them may start a writer: {error}.",
                    error=said_by(error),
                )
            ]
        for one in found:
            spec = one["spec"]["jobTemplate"]["spec"]["template"]["spec"]
            claims = {
                f"{namespace}/{source['claimName']}"
                for volume in spec.get("volumes") or ()
                if (source := volume.get("persistentVolumeClaim")) and not source.get("readOnly")
            }
            if claims & set(use.claims) and not one["spec"].get("suspend"):
                meta = one["metadata"]
                ref = ObjectRef(
                    api="batch/v1", kind="CronJob", namespace=namespace, name=meta["name"], uid=meta["uid"]
                )
                steps.append(
                    Patch(
                        ref=ref,
                        description=sentence("suspend {object}: it starts no new writer", object=str(ref)),
                        body={"spec": {"suspend": True}},
                        undo={"spec": {"suspend": False}},
                        undo_text=sentence("resume {object}", object=str(ref)),
                    )
                )
    return steps, []


def _holder(pod: Pod, inventory: Inventory) -> str:
    """Return the workload that is stopped to stop the pod: its top controller, or the Job of a CronJob's."""
    top = inventory.workload_of(pod)
    owner = controller_of(pod)
    if owner is not None and top and parse_workload(top).kind == "CronJob":
        return workload_name(pod.metadata.namespace, owner)
    return top


def _trainings_by_workload(trainings: Sequence[Training]) -> Mapping[str, Training]:
    return {
        workload: training
        for training in trainings
        for workload in (*training.owned, *training.workloads)
        if not training.state.is_over
    }


async def _stop_training(training: Training, context: CommandContext, made: Stopped) -> None:
    try:
        steps = suspend_steps(training, context.cluster.inventory())
    except UnusableError as error:
        made.left.append(said_by(error))
        return
    if not steps:
        return
    made.parts.append((training.id, steps))
    made.disrupts.append(disruption_of(training))
    if training.ranks:
        made.notes.append(listed((training.shown, await lost_work(training, context)), ":"))


def _stop_workload(
    workload: str, pods: Sequence[Pod], inventory: Inventory, made: Stopped, user: GpuUser | None
) -> None:
    namespace, kind, name = parse_workload(workload)
    if not can_suspend(workload) or inventory.top_of(workload) is None:
        named = {"kind": shown_kind(kind).lower(), "namespace": namespace, "name": name}
        made.left.append(
            sentence("{kind} {namespace}/{name} goes on writing: it cannot be scaled.", **named)
            if kind == "DaemonSet"
            else sentence(
                "{kind} {namespace}/{name} goes on writing: only its own controller can stop it.", **named
            )
        )
        return
    steps = suspended((workload,), inventory)
    if not steps:
        return
    made.parts.append((workload, steps))
    if pods:
        made.disrupts.append(
            Disruption(
                name=workload,
                owner=user.owner if user else "",
                team=user.team if user else "",
                ends=True,
                pods=len(pods),
                gpus=sum(inventory.gpus_held(pod) for pod in pods),
                text=counted("{count} pod", "{count} pods", count=len(pods)),
            )
        )


def _stop_pod(pod: Pod, inventory: Inventory, made: Stopped) -> None:
    meta = pod.metadata
    if _MIRROR in (meta.annotations or {}):
        made.left.append(
            sentence("pod {pod} goes on writing: it is static, and only its kubelet can end it.", pod=pod.key)
        )
        return
    ref = ObjectRef(api="v1", kind="Pod", namespace=meta.namespace, name=meta.name, uid=meta.uid)
    evict = Evict(ref=ref, description=sentence("evict {pod}", pod=pod.key), seconds=EVICTED_WITHIN)
    name = f"{meta.namespace}/Pod/{meta.name}"
    made.parts.append((name, (evict,)))
    made.disrupts.append(Disruption(name=name, gpus=inventory.gpus_held(pod), ends=True))
    made.notes.append(sentence("No controller recreates pod {pod}: it is gone for good.", pod=pod.key))
