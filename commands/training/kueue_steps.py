"""Steps by which what Kueue manages is suspended and resumed: through its Workload. Pure.

Kueue owns the suspension of the object.
"""

from collectors.cluster.base import KubernetesObject
from collectors.cluster.indexes import by_managed, workload_of
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import KUEUE_WORKLOADS
from collectors.cluster.kueue_workloads import KueueWorkload
from collectors.facts.sentences import sentence
from collectors.trainings.queueing import queue_of
from commands.execution.object_refs import ObjectRef
from commands.execution.preconditions import Precondition
from commands.execution.steps import Patch

KUEUE_RIGHTS = Patch.rights(KUEUE_WORKLOADS.group, "workloads")
_ACTIVE = ("spec", "active")


def is_managed(found: KubernetesObject) -> bool:
    """Whether Kueue suspends and resumes the object."""
    return bool(queue_of(found.metadata))


def workloads_of(found: KubernetesObject, inventory: Inventory) -> tuple[KueueWorkload, ...]:
    """Return Kueue's Workloads of an object: one, or none as long as Kueue has not picked it up."""
    return inventory.select(KUEUE_WORKLOADS, by_managed, workload_of(found))


def unseen_reason(inventory: Inventory) -> str:
    """Return why no Workload of it is seen."""
    return inventory.missing_reason(KUEUE_WORKLOADS) or sentence("Kueue has not picked it up")


def hold_in_kueue(workload: KueueWorkload, ref: ObjectRef) -> Patch:
    """Return the step that suspends `ref` through its Workload; its undo puts it back into its queue."""
    return Patch(
        ref=ref_of_workload(workload),
        description=sentence(
            "suspend {ref} through its Workload in Kueue: its pods end, and undo puts it back into queue {queue}",
            ref=str(ref),
            queue=workload.spec.queue_name,
        ),
        body={"spec": {"active": False}},
        requires=(Precondition(path=_ACTIVE, equals=True),),
        undo={"spec": {"active": True}},
        undo_text=_back(workload, ref),
    )


def release_in_kueue(workload: KueueWorkload, ref: ObjectRef) -> Patch:
    """Return the step that puts `ref` back into its queue; its undo suspends it again."""
    return Patch(
        ref=ref_of_workload(workload),
        description=_back(workload, ref),
        body={"spec": {"active": True}},
        requires=(Precondition(path=_ACTIVE),),
        undo={"spec": {"active": False}},
        undo_text=sentence("suspend {ref} through its Workload in Kueue", ref=str(ref)),
    )


def ref_of_workload(workload: KueueWorkload) -> ObjectRef:
    meta = workload.metadata
    return ObjectRef(
        api=KUEUE_WORKLOADS.api,
        kind=KUEUE_WORKLOADS.kind,
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
    )


def _back(workload: KueueWorkload, ref: ObjectRef) -> str:
    return sentence(
        "put {ref} back into queue {queue} of Kueue, which starts it when it has room for it",
        ref=str(ref),
        queue=workload.spec.queue_name,
    )
