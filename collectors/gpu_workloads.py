"""Workloads with GPUs that are not trainings, whatever their kind: the pods under the top of their owner chain.

They are read when they are looked up: there may be 50,000 pods.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence

from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import NAMESPACES
from collectors.cluster.objects import Pod
from collectors.cluster.resources import holds_resources
from collectors.facts.topology import WorkloadFacts
from collectors.facts.workload_keys import is_workload_key, parse_workload, workload_key
from collectors.trainings.training import OWNER_KEYS, TEAM_KEYS, first_of

BARE_POD = "Pod"  # the kind of a workload that is a pod without an owner


class GpuWorkloads(Mapping[str, WorkloadFacts]):
    """The workloads with GPUs by key. `training_of`: a pod's training, empty without one."""

    def __init__(self, inventory: Inventory, training_of: Callable[[Pod], str]) -> None:
        self._inventory = inventory
        self._training_of = training_of
        self._read: dict[str, WorkloadFacts | None] = {}

    def of(self, pod: Pod) -> str:
        """Return the workload of a pod; empty for one that takes no GPUs, has finished, or is a training's."""
        if not _takes_gpus(pod, self._inventory) or self._training_of(pod):
            return ""
        return gpu_workload_of(pod, self._inventory)

    def __getitem__(self, id: str) -> WorkloadFacts:
        if id not in self._read:
            self._read[id] = self._facts(id)
        if (found := self._read[id]) is None:
            raise KeyError(id)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for pod in self._inventory.pods.values() if (name := self.of(pod))))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _facts(self, id: str) -> WorkloadFacts | None:
        if not is_workload_key(id):
            return None
        namespace, kind, _ = parse_workload(id)
        top = self._inventory.top_of(id)
        pods = (top,) if isinstance(top, Pod) and kind == BARE_POD else self._inventory.pods_of(id)
        of_namespace = self._inventory.all(NAMESPACES).get(namespace)

        def read() -> WorkloadFacts | None:
            own = [pod for pod in pods if self.of(pod) == id]
            if not own:
                return None
            metas = [one.metadata for one in (top, *own, of_namespace) if one is not None]
            return WorkloadFacts(
                id=id,
                owner=first_of(metas, OWNER_KEYS),
                team=first_of(metas, TEAM_KEYS),
                gpus=sum(self._gpus_held(pod) for pod in own),
                pods=len(own),
            )

        parts = (top, of_namespace, self._inventory.gpu_claims(namespace), *pods)
        return self._inventory.memo.get(("gpu workload", id), parts, read)

    def _gpus_held(self, pod: Pod) -> float:
        try:
            return self._inventory.gpus_held(pod)
        except ValueError:
            return 0


def gpu_workload_of(pod: Pod, inventory: Inventory) -> str:
    """Return the key of the top of a pod's owner chain: the pod itself if it has no owner."""
    return inventory.workload_of(pod) or workload_key(pod.metadata.namespace, BARE_POD, pod.metadata.name)


def pods_waiting_for_gpus(
    inventory: Inventory, of_trainings: Container[tuple[str, str]]
) -> Mapping[str, Sequence[Pod]]:
    """Return the pods that ask for GPUs and have no node, by their workload; without those of trainings."""
    found: dict[str, list[Pod]] = {}
    for pod in inventory.pods_waiting():
        key = (pod.metadata.namespace, pod.metadata.name)
        if key not in of_trainings and not pod.metadata.deletion_timestamp and _takes_gpus(pod, inventory):
            found.setdefault(gpu_workload_of(pod, inventory), []).append(pod)
    return found


def _takes_gpus(pod: Pod, inventory: Inventory) -> bool:
    return holds_resources(pod) and asks_for_gpus(pod, inventory)


def asks_for_gpus(pod: Pod, inventory: Inventory) -> bool:
    """Whether the pod requests GPUs, also after its end."""
    try:
        return bool(inventory.gpus_of(pod))
    except ValueError:  # a quantity that cannot be read
        return False
