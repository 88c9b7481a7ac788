"""The claims of volumes and the trainings that mount them, looked up when a volume is in trouble."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import PERSISTENT_VOLUME_CLAIMS
from collectors.cluster.objects import Pod
from collectors.facts.topology import ClaimFacts


class Claims(Mapping[str, ClaimFacts]):
    """The claims by `namespace/name`, and by the name of the volume that they are bound to."""

    def __init__(self, inventory: Inventory, training_of: Callable[[Pod], str]) -> None:
        self._inventory = inventory
        self._training_of = training_of

    @cached_property
    def _by_name(self) -> Mapping[str, ClaimFacts]:
        users: dict[str, _Users] = {}
        for pod in self._inventory.pods.values():
            for volume in pod.spec.volumes or ():
                if source := volume.persistent_volume_claim:
                    claim = users.setdefault(f"{pod.metadata.namespace}/{source.claim_name}", _Users())
                    claim.add(pod, self._training_of(pod), writes=not source.read_only)
        found = {name: claim.facts(name) for name, claim in users.items()}
        if not self._inventory.missing_reason(PERSISTENT_VOLUME_CLAIMS):
            for name, one in self._inventory.all(PERSISTENT_VOLUME_CLAIMS).items():
                facts = found.setdefault(name, _Users().facts(name))
                if one.spec.volume_name:
                    found.setdefault(one.spec.volume_name, facts)
        return found

    def __getitem__(self, name: str) -> ClaimFacts:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)


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
