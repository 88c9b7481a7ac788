"""The claims of volumes and the trainings that mount them, looked up when a volume is in trouble."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from collectors.cluster.indexes import by_claim
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import PERSISTENT_VOLUME_CLAIMS, PODS
from collectors.cluster.objects import Pod
from collectors.facts.topology import ClaimFacts


class Claims(Mapping[str, ClaimFacts]):
    """The claims by `namespace/name`, and by the name of the volume that they are bound to."""

    def __init__(self, inventory: Inventory, training_of: Callable[[Pod], str]) -> None:
        self._inventory = inventory
        self._training_of = training_of

        self._read: dict[str, ClaimFacts] = {}

    @cached_property
    def _bound(self) -> Mapping[str, str]:
        """The claims by the volumes that they are bound to."""
        if self._inventory.missing_reason(PERSISTENT_VOLUME_CLAIMS):
            return {}
        claims = self._inventory.all(PERSISTENT_VOLUME_CLAIMS)
        return {one.spec.volume_name: name for name, one in claims.items() if one.spec.volume_name}

    @property
    def _names(self) -> Iterator[str]:
        yield from self._inventory.grouped(PODS, by_claim)
        if not self._inventory.missing_reason(PERSISTENT_VOLUME_CLAIMS):
            yield from self._inventory.all(PERSISTENT_VOLUME_CLAIMS)
            yield from self._bound

    def __getitem__(self, name: str) -> ClaimFacts:
        if name not in self._read:
            self._read[name] = self._facts(name)
        return self._read[name]

    def _facts(self, name: str) -> ClaimFacts:
        pods = self._inventory.select(PODS, by_claim, name)
        if not pods and name not in self._inventory.all(PERSISTENT_VOLUME_CLAIMS):
            return self[self._bound[name]]
        users = _Users()
        for pod in pods:
            for volume in pod.spec.volumes or ():
                source = volume.persistent_volume_claim
                if source and name == f"{pod.metadata.namespace}/{source.claim_name}":
                    users.add(pod, self._training_of(pod), writes=not source.read_only)
        return users.facts(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(self._names))

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(slots=True)
class _Users:
    """What mounts one claim: trainings, and whether they may write, and pods by where they stand."""

    trainings: dict[str, bool] = field(default_factory=dict)
    waiting: dict[str, str] = field(default_factory=dict)
    running: list[str] = field(default_factory=list)

    def add(self, pod: Pod, training: str, *, writes: bool) -> None:
        if training:
            self.trainings[training] = self.trainings.get(training, False) or writes
        if pod.status.phase == "Running":
            self.running.append(pod.key)
        elif pod.status.phase == "Pending" and pod.spec.node_name:
            self.waiting[pod.key] = pod.spec.node_name

    def facts(self, name: str) -> ClaimFacts:
        return ClaimFacts(
            name=name,
            trainings=tuple(sorted(self.trainings)),
            writers=tuple(sorted(training for training, writes in self.trainings.items() if writes)),
            waiting=self.waiting,
            running=tuple(self.running),
        )
