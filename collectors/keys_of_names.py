"""Keys of names: which training or workload a label or a log line means that has its name only."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from collectors.cluster import kinds as watched
from collectors.cluster.indexes import by_owner_of_pod
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import PODS
from collectors.facts.workload_keys import (
    BUILT_IN_KINDS,
    bare_kind,
    is_workload_key,
    parse_workload,
    workload_key,
)
from collectors.trainings.training import Training


class KeysOfNames(Mapping[str, str]):
    """The keys of trainings by their names, and of workloads whose kind a label has without its group.

    A name that two share has none. The kinds are looked for when a label has one that is not Kubernetes' own: of two
    that differ by their group or version, the one that has pods in this cluster.
    """

    def __init__(self, inventory: Inventory, trainings: Sequence[Training]) -> None:
        self._inventory = inventory
        self._by_name = {one.shown: one.id for one in trainings if not one.is_name_shared}

    @cached_property
    def _kinds(self) -> Mapping[str, frozenset[str]]:
        owners = self._inventory.grouped(PODS, by_owner_of_pod)
        with_pods = {parse_workload(owner).kind for owner in owners}
        found: dict[str, set[str]] = {}
        for kind in with_pods | {one.kind_in_keys for one in watched.DEFAULT_KINDS}:
            if kind not in BUILT_IN_KINDS:
                found.setdefault(bare_kind(kind), set()).add(kind)
        return {
            bare: frozenset(those if len(those) == 1 else those & with_pods) for bare, those in found.items()
        }

    def __getitem__(self, name: str) -> str:
        if not is_workload_key(name):
            return self._by_name[name]
        namespace, kind, own = parse_workload(name)
        if kind in BUILT_IN_KINDS or "." in kind or len(kinds := self._kinds.get(kind, frozenset())) != 1:
            raise KeyError(name)
        return workload_key(namespace, next(iter(kinds)), own)

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)
