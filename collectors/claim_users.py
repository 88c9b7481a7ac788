"""The claims of volumes and the trainings that mount them, looked up when a volume is in trouble."""

from collections.abc import Callable, Iterator, Mapping
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
        users: dict[str, dict[str, bool]] = {}  # claim -> training -> whether it may write
        for pod in self._inventory.pods.values():
            for volume in pod.spec.volumes or ():
                if (source := volume.persistent_volume_claim) and (training := self._training_of(pod)):
                    claim = users.setdefault(f"{pod.metadata.namespace}/{source.claim_name}", {})
                    claim[training] = claim.get(training, False) or not source.read_only
        found = {claim: _facts(claim, trainings) for claim, trainings in users.items()}
        if not self._inventory.missing_reason(PERSISTENT_VOLUME_CLAIMS):
            for name, one in self._inventory.all(PERSISTENT_VOLUME_CLAIMS).items():
                facts = found.setdefault(name, _facts(name, {}))
                if one.spec.volume_name:
                    found.setdefault(one.spec.volume_name, facts)
        return found

    def __getitem__(self, name: str) -> ClaimFacts:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)


def _facts(name: str, trainings: Mapping[str, bool]) -> ClaimFacts:
    return ClaimFacts(
        name=name,
        trainings=tuple(sorted(trainings)),
        writers=tuple(sorted(training for training, writes in trainings.items() if writes)),
    )
