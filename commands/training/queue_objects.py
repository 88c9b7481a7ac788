"""Objects of the queues that a waiting training is in: of Kueue, Volcano, and Kubernetes itself. Read when asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import KUEUE_WORKLOADS
from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence
from collectors.facts.workload_keys import parse_workload
from collectors.trainings.training import Training, TrainingState
from commands.execution.object_refs import ObjectReader, ObjectRef
from commands.execution.rights import Right
from commands.training.kueue_quota import Reserved, reserved_in
from commands.training.queues import KUEUE_API, VOLCANO_API
from commands.training.training_kinds import KINDS

Tree = Mapping[str, Any]  # an object as the API shows it

COSCHEDULING_API = "scheduling.x-k8s.io/v1alpha1"
NATIVE_APIS = ("scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha2")
GROUP_APIS = (VOLCANO_API, COSCHEDULING_API, *NATIVE_APIS)
DEFAULT_QUEUE = "default"  # of Volcano, for a gang that names none
WHY_RIGHTS = (
    Right(group="kueue.x-k8s.io", resources=("clusterqueues",), verbs=("get",)),
    Right(group="kueue.x-k8s.io", resources=("localqueues",), verbs=("list",)),
    Right(group="scheduling.volcano.sh", resources=("queues",), verbs=("get",)),
    Right(group="scheduling.volcano.sh", resources=("podgroups",), verbs=("list",)),
    Right(group="scheduling.x-k8s.io", resources=("podgroups",), verbs=("list",)),
    Right(group="scheduling.k8s.io", resources=("podgroups",), verbs=("list",)),
    Right(group="", resources=("pods",), verbs=("get",)),
    *(
        Right(group=one.objects.group, resources=(one.objects.path.rpartition("/")[2],), verbs=("get",))
        for one in KINDS.values()
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueObjects:
    """What was read. `queue` is None for one that does not exist, and for one that could not be read."""

    local_queues: Mapping[str, str] = field(default_factory=dict)  # namespace/name -> its ClusterQueue
    stopped: Mapping[str, str] = field(default_factory=dict)  # namespace/name of a LocalQueue -> its policy
    queue_name: str = ""  # of Kueue's ClusterQueue, or of Volcano's Queue
    queue: Tree | None = None
    reserved: Reserved = field(default_factory=dict)  # of that ClusterQueue, for what it admitted
    groups: tuple[Tree, ...] = ()  # PodGroups of the whole cluster
    group: Tree | None = None  # its own one
    pod: Tree | None = None  # one of its pods that wait
    top: Tree | None = None  # the object itself, of one that is suspended
    unseen: tuple[str, ...] = ()


async def queue_objects(
    training: Training, inventory: Inventory, reader: ObjectReader | None
) -> QueueObjects:
    """Return the objects that say why the training waits. What cannot be read is said in `unseen`."""
    if reader is None:
        return QueueObjects(unseen=(sentence("the settings give Yardmaster no access to its queue"),))
    look = _Look(reader)
    pod = await look.one(
        ObjectRef(api="v1", kind="Pod", namespace=training.namespace, name=_waiting_pod(training))
    )
    if training.is_in_kueue:
        locals_ = await look.all(ObjectRef(api=KUEUE_API, kind="LocalQueue", name=""))
        leads = {_key(one): str(one["spec"].get("clusterQueue") or "") for one in locals_}
        name = leads.get(f"{training.namespace}/{training.queue}", "")
        return QueueObjects(
            local_queues=leads,
            stopped={_key(one): policy for one in locals_ if (policy := stop_policy(one))},
            queue_name=name,
            queue=await look.one(ObjectRef(api=KUEUE_API, kind="ClusterQueue", name=name)),
            reserved=reserved_in(name, inventory.all(KUEUE_WORKLOADS).values()),
            pod=pod,
            unseen=tuple(look.unseen),
        )
    groups: Sequence[Tree] = ()
    group = None
    for api in GROUP_APIS:
        groups = await look.all(ObjectRef(api=api, kind="PodGroup", name=""))
        if (group := _own(groups, training, inventory)) is not None:
            break
    name = queue_of_group(group) if group is not None and str(group["apiVersion"]) == VOLCANO_API else ""
    return QueueObjects(
        queue_name=name,
        queue=await look.one(ObjectRef(api=VOLCANO_API, kind="Queue", name=name)),
        groups=tuple(groups),
        group=group,
        pod=pod,
        top=await look.one(top_of(training, inventory))
        if training.state is TrainingState.SUSPENDED
        else None,
        unseen=tuple(look.unseen),
    )


class _Look:
    """Reads objects, and remembers what cannot be read. A kind that the cluster does not serve has none."""

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader
        self.unseen: list[str] = []

    async def one(self, ref: ObjectRef) -> Tree | None:
        if not ref.name:
            return None
        try:
            return await self._reader.read(ref)
        except SourceError as error:
            self._note(ref, error)
            return None

    async def all(self, ref: ObjectRef) -> Sequence[Tree]:
        try:
            found = await self._reader.listing(ref)
        except SourceError as error:
            if error.status != 404:
                self._note(ref, error)
            return ()
        return [{"apiVersion": ref.api, "kind": ref.kind, **one} for one in found]

    def _note(self, ref: ObjectRef, error: SourceError) -> None:
        self.unseen.append(sentence("{kind}s cannot be seen: {reason}", kind=ref.kind, reason=said_by(error)))


def stop_policy(queue: Tree) -> str:
    """Return by what policy a queue of Kueue is stopped; empty while it is not."""
    policy = str(queue["spec"].get("stopPolicy") or "None")
    return "" if policy == "None" else policy


def queue_of_group(group: Tree) -> str:
    return str((group.get("spec") or {}).get("queue") or DEFAULT_QUEUE)


def top_of(training: Training, inventory: Inventory) -> ObjectRef:
    """Return the first of its top objects that is of a kind of training; without a name if there is none."""
    for key in training.workloads:
        kind = KINDS.get(parse_workload(key).kind)
        if kind is not None:
            found = inventory.all(kind.objects).get(parse_workload(key).object_key)
            if found is not None:
                meta = found.metadata
                return ObjectRef(
                    api=kind.objects.api,
                    kind=kind.objects.kind,
                    namespace=meta.namespace,
                    name=meta.name,
                    uid=meta.uid,
                )
    return ObjectRef(api="v1", kind="", name="")


def _own(groups: Sequence[Tree], training: Training, inventory: Inventory) -> Tree | None:
    """Return the training's PodGroup: one of its objects owns it, or one of its pods names it."""
    here = [one for one in groups if one["metadata"].get("namespace") == training.namespace]
    tops = {key.rpartition("/")[2] for key in (*training.workloads, *training.owned)}
    for one in here:
        owners = one["metadata"].get("ownerReferences") or ()
        if any(owner.get("name") in tops for owner in owners):
            return one
    names = set()
    for rank in training.ranks:
        pod = inventory.pods.get(f"{training.namespace}/{rank.pod}")
        notes = (pod.metadata.annotations or {}) if pod is not None else {}
        labels = (pod.metadata.labels or {}) if pod is not None else {}
        names.add(
            notes.get("scheduling.k8s.io/group-name") or labels.get("scheduling.x-k8s.io/pod-group") or ""
        )
        if pod is not None and pod.spec.scheduling_group is not None:
            names.add(pod.spec.scheduling_group.pod_group_name)
    return next((one for one in here if one["metadata"]["name"] in names), None)


def _waiting_pod(training: Training) -> str:
    return next((rank.pod for rank in training.ranks if not rank.node), "")


def _key(one: Tree) -> str:
    return f"{one['metadata'].get('namespace', '')}/{one['metadata']['name']}"
