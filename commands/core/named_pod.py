"""Pods by name, whose they are, and what ends when they do: for all commands that touch pods."""

from collections.abc import Iterable
from dataclasses import dataclass

from collectors.cluster.indexes import controller_of
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import NAMESPACES
from collectors.cluster.objects import Pod
from collectors.facts.sentences import counted
from collectors.facts.topology import TrainingFacts
from collectors.gpu_workloads import gpu_workload_of
from collectors.trainings.training import OWNER_KEYS, TEAM_KEYS, first_of
from commands.core.context import CommandContext
from commands.core.lookups import ambiguous, known_name
from commands.execution.disruption import Disruption
from commands.execution.object_refs import ObjectRef

MIRROR = "kubernetes.io/config.mirror"  # the annotation of a static pod, which only its kubelet can end
_ALIKE = 3  # first characters that names have in common which may have been meant


@dataclass(frozen=True, slots=True, kw_only=True)
class PodUser:
    """Whose a pod is: its training, or the top of its owner chain. `key` is that of the training or the workload."""

    key: str
    shown: str
    owner: str = ""  # as named in the cluster
    team: str = ""
    training: TrainingFacts | None = None


def pod_named(name: str, inventory: Inventory) -> Pod:
    """Return the pod by `namespace/name`, or by its name alone if only one has it.

    Raises UnusableError that lists the matches, or the closest names.
    """
    if (found := inventory.pods.get(name)) is not None:
        return found
    matches = [key for key in inventory.pods if key.endswith(f"/{name}")] if "/" not in name else []
    if len(matches) == 1:
        return inventory.pods[matches[0]]
    if matches:
        raise ambiguous(name, matches)
    bare = name.rpartition("/")[2]
    alike = [key for key in inventory.pods if key.rpartition("/")[2].startswith(bare[:_ALIKE])]
    return inventory.pods[known_name(name, alike or list(inventory.pods), "pod")]


def ref_of_pod(pod: Pod) -> ObjectRef:
    """Return the reference to exactly this pod, not to another one that gets its name."""
    meta = pod.metadata
    return ObjectRef(api="v1", kind="Pod", namespace=meta.namespace, name=meta.name, uid=meta.uid)


def user_of_pod(pod: Pod, context: CommandContext) -> PodUser:
    """Return whose the pod is, as far as its labels, or those above it, say."""
    inventory, topology = context.cluster.inventory(), context.cluster.topology()
    meta = pod.metadata
    facts = topology.pods.get((meta.namespace, meta.name))
    if facts is not None and (training := topology.trainings.get(facts.training)) is not None:
        return PodUser(
            key=training.id,
            shown=training.shown,
            owner=training.owner,
            team=training.team,
            training=training,
        )
    key = gpu_workload_of(pod, inventory)
    top, space = inventory.top_of(key), inventory.all(NAMESPACES).get(meta.namespace)
    metas = [one.metadata for one in (top, pod, space) if one is not None]
    found = topology.workloads.get(key)
    return PodUser(
        key=key,
        shown=Disruption(name=key).label,
        owner=found.owner if found else first_of(metas, OWNER_KEYS),
        team=found.team if found else first_of(metas, TEAM_KEYS),
    )


def pod_disruptions(pods: Iterable[Pod], context: CommandContext) -> tuple[Disruption, ...]:
    """Return what ends when these pods do, those with the most GPUs first; nothing for those that have finished.

    Running work is lost where no controller starts it again, and in trainings: one that loses a rank loses all.
    """
    inventory = context.cluster.inventory()
    by_user: dict[str, tuple[PodUser, list[Pod]]] = {}
    for pod in pods:
        if pod.status.phase not in ("Succeeded", "Failed"):
            user = user_of_pod(pod, context)
            by_user.setdefault(user.key, (user, []))[1].append(pod)
    found = [_disruption(user, members, inventory) for user, members in by_user.values()]
    return tuple(sorted(found, key=lambda one: (-one.gpus, one.name)))


def _disruption(user: PodUser, pods: list[Pod], inventory: Inventory) -> Disruption:
    return Disruption(
        name=user.key,
        shown=user.shown,
        owner=user.owner,
        team=user.team,
        gpus=sum(gpus_held(pod, inventory) for pod in pods),
        ends=any(
            pod.status.phase == "Running" and (user.training is not None or controller_of(pod) is None)
            for pod in pods
        ),
        text=counted(
            "{ended} of {count} rank", "{ended} of {count} ranks", ended=len(pods), count=user.training.ranks
        )
        if user.training is not None
        else counted("{count} pod", "{count} pods", count=len(pods)),
    )


def gpus_held(pod: Pod, inventory: Inventory) -> float:
    """Return the GPUs that the pod holds; 0 where its request cannot be read."""
    try:
        return inventory.gpus_held(pod)
    except ValueError:
        return 0
