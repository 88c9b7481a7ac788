"""The steps that stop or suspend the workloads of a training, of any kind, and the rights that they need."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from collectors.cluster.indexes import workload_of
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import DEPLOYMENTS, STATEFULSETS, ResourceKind
from collectors.cluster.objects import KubernetesObject, Workload
from collectors.facts.sentences import sentence
from collectors.facts.workload_keys import parse_workload, shown_kind
from collectors.trainings.training import Training
from commands.core.command import UnusableError
from commands.execution.object_refs import ObjectRef
from commands.execution.rights import Right
from commands.execution.steps import Delete, Running, Scale, Step
from commands.training import kueue_steps
from commands.training.manifests import MANAGED_BY, OURS
from commands.training.training_kinds import KINDS, only_read, writing_kind_of
from commands.training.writing_kind import Suspending, WritingKind

_SERVERS: dict[str, ResourceKind[Any]] = {one.kind_in_keys: one for one in (DEPLOYMENTS, STATEFULSETS)}


def delete_rights() -> tuple[Right, ...]:
    """Return what `stop_steps` needs."""
    return (
        *Delete.rights("apps", "deployments", "statefulsets"),
        *(right for kind in KINDS.values() for right in kind.delete_rights),
    )


def suspend_rights() -> tuple[Right, ...]:
    """Return what `suspend_steps` and `resume_steps` need."""
    return (
        *kueue_steps.KUEUE_RIGHTS,
        *Scale.rights("apps", "deployments", "statefulsets"),
        *(right for kind in KINDS.values() if kind.suspending for right in kind.suspending.rights),
    )


def stop_steps(
    training: Training, inventory: Inventory, *, left: Sequence[dict[str, Any]] = ()
) -> tuple[Step, ...]:
    """Return the steps that delete its top objects, never its pods; and `left`, other objects of ours from the API.

    Raises UnusableError for a training that can only be read.
    """
    writing_kind_of(training)
    steps: list[Step] = [
        Delete(ref=ref, description=sentence("delete {ref} and its pods", ref=str(ref)))
        for ref, _ in _objects(training.workloads, inventory)
    ]
    for one in left:
        meta = one["metadata"]
        ref = ObjectRef(
            api="v1", kind=one["kind"], namespace=meta["namespace"], name=meta["name"], uid=meta["uid"]
        )
        steps.append(Delete(ref=ref, description=sentence("delete {ref}", ref=str(ref))))
    return tuple(steps)


def suspend_steps(training: Training, inventory: Inventory) -> tuple[Step, ...]:
    """Return the steps that suspend its top objects and scale its servers to 0: the GPUs are freed, undo restores them.

    What Kueue manages is suspended through its Workload. Raises UnusableError where `suspension_refusal` says why.
    """
    if refusal := suspension_refusal(training, inventory):
        raise UnusableError(refusal)
    return suspended(training.workloads, inventory)


def suspension_refusal(training: Training, inventory: Inventory) -> str:
    """Return why a training cannot be suspended, as a whole sentence; empty if it can, or if it has ended."""
    if training.kind not in KINDS:
        return only_read(training)
    for _, found in _objects(training.workloads, inventory):
        kind = KINDS.get(found.kind_in_keys())
        if kind is not None and kind.suspending is None and not kind.has_ended(found):
            return sentence(
                "{training} is of kind {kind}, which cannot be suspended: `training stop {typed}` deletes it.",
                training=training.shown,
                kind=shown_kind(kind.name),
                typed=training.typed,
            )
        if kind is not None and _is_out_of_reach(kind, found, inventory):
            return sentence(
                "{training} is managed by Kueue, and no Workload of it is seen ({reason}): Kueue would resume what "
                "is suspended without it.",
                training=training.shown,
                reason=kueue_steps.unseen_reason(inventory),
            )
    return ""


def _is_out_of_reach(kind: WritingKind, found: KubernetesObject, inventory: Inventory) -> bool:
    """Whether it runs and only Kueue could suspend it, whose Workload is not seen."""
    if kind.suspending is None or kind.has_ended(found) or not kueue_steps.is_managed(found):
        return False
    return not kind.suspending.is_suspended(found) and not kueue_steps.workloads_of(found, inventory)


def can_suspend(workload: str) -> bool:
    """Whether `suspended` can hold workloads of this kind."""
    name = parse_workload(workload).kind
    return name in _SERVERS or (name in KINDS and KINDS[name].suspending is not None)


def suspended(workloads: Iterable[str], inventory: Inventory) -> tuple[Step, ...]:
    """Return the steps that suspend or scale to 0 these workloads; none for kinds that cannot be."""
    steps: list[Step] = []
    for ref, found in _objects(workloads, inventory):
        kind = KINDS.get(found.kind_in_keys())
        if kind is not None and kind.has_ended(found):
            continue  # it holds nothing
        if isinstance(found, Workload):
            count = found.spec.replicas if found.spec.replicas is not None else 1
            if count:
                steps.append(
                    Scale(
                        ref=ref,
                        description=sentence(
                            "scale {ref} from {replicas} to 0", ref=str(ref), replicas=count
                        ),
                        replicas=0,
                        expected=count,
                    )
                )
        elif kind is None or (suspending := kind.suspending) is None:
            continue
        elif kueue_steps.is_managed(found):
            steps += [
                kueue_steps.hold_in_kueue(one, ref)
                for one in kueue_steps.workloads_of(found, inventory)
                if one.spec.active
            ]
        elif not suspending.is_suspended(found):
            steps.append(_suspension(suspending, ref, found, inventory))
    return tuple(steps)


def tops_of(training: Training, inventory: Inventory) -> list[tuple[ObjectRef, KubernetesObject]]:
    """Return its top objects that exist, with references by uid."""
    return _objects(training.workloads, inventory)


def resume_steps(training: Training, inventory: Inventory) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Return the steps that resume what is suspended of a training, and notes on what they leave as it is.

    Raises UnusableError for what would fail by it.
    """
    steps: list[Step] = []
    notes: list[str] = []
    for ref, found in _objects(training.workloads, inventory):
        kind = KINDS.get(found.kind_in_keys())
        if isinstance(found, Workload):
            if found.spec.replicas == 0 and (found.metadata.labels or {}).get(MANAGED_BY) == OURS:
                one = sentence("scale {ref} from 0 to 1", ref=str(ref))
                steps.append(Scale(ref=ref, description=one, replicas=1, expected=0))
            elif found.spec.replicas == 0:
                notes.append(
                    sentence(
                        "{ref} stays at 0 replicas, as it is not known how many it had: undo the plan that "
                        "suspended it, or scale it.",
                        ref=str(ref),
                    )
                )
        elif kind is None or kind.suspending is None or kind.has_ended(found):
            continue
        elif kueue_steps.is_managed(found):
            held = [one for one in kueue_steps.workloads_of(found, inventory) if not one.spec.active]
            steps += [kueue_steps.release_in_kueue(one, ref) for one in held]
        elif kind.suspending.is_suspended(found):
            if refusal := kind.suspending.resume_refusal(found):
                raise UnusableError(refusal)
            steps.append(kind.suspending.resume(ref))
    return tuple(steps), tuple(notes)


def _suspension(kind: Suspending, ref: ObjectRef, found: KubernetesObject, inventory: Inventory) -> Step:
    """Return the step that suspends an object. Undone, as many pods as now have to run again."""
    pods = [
        pod
        for pod in inventory.pods_of(workload_of(found))
        if pod.metadata.deletion_timestamp is None
        and pod.status.phase != "Failed"
        and kind.pod_label in (pod.metadata.labels or {})
    ]
    back = Running(
        ref=ref,
        description=sentence("wait until the pods of {ref} run again", ref=str(ref)),
        label=kind.pod_label if kind.named_by else f"{kind.pod_label}={ref.name}",
        named_by=kind.named_by,
        count=len(pods),
    )
    step = kind.step(ref, back)
    if by := kind.managed_by(found):
        doubt = sentence(
            "suspend {ref}, which {manager} manages: whether its pods end, and undo restarts them, is up to {manager}",
            ref=str(ref),
            manager=by,
        )
        step = msgspec.structs.replace(step, description=doubt)
    return step


def _objects_of(kind: str) -> ResourceKind[Any] | None:
    return KINDS[kind].objects if kind in KINDS else _SERVERS.get(kind)


def _objects(workloads: Iterable[str], inventory: Inventory) -> list[tuple[ObjectRef, KubernetesObject]]:
    """Return those of the workloads that exist, with references by uid."""
    found: list[tuple[ObjectRef, KubernetesObject]] = []
    for workload in workloads:
        namespace, kind, name = key = parse_workload(workload)
        objects = _objects_of(kind)
        if objects is not None and (one := inventory.all(objects).get(key.object_key)) is not None:
            ref = ObjectRef(
                api=objects.api, kind=objects.kind, namespace=namespace, name=name, uid=one.metadata.uid
            )
            found.append((ref, one))
    return found
