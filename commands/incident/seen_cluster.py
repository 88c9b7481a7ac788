"""Facts about the cluster and its past actions that a card needs to suggest only what is possible and still to do."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from alerts.cards.cluster_now import ClusterNow
from alerts.cards.suggested_actions import Suggestion
from alerts.store import StoreSnapshot
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import NODES, PERSISTENT_VOLUME_CLAIMS
from collectors.facts.results import SourceError
from collectors.trainings.training import Training
from collectors.volume_use import VolumeUse, volume_uses
from commands.core.cordoned_gpus import cordoned_gpus
from commands.execution.plan import Plan, PlanState
from commands.models import CordonLease
from commands.training.workload_steps import suspended

PLANS_READ = 500  # the newest that are done: a freeze that is older is not what a card still suggests


class SeenCluster(Protocol):
    """The part of a cluster that is read. Both raise SourceError while it cannot be seen."""

    def inventory(self) -> Inventory: ...

    def trainings(self) -> Sequence[Training]: ...


_ABOUT_A_VOLUME = ("volume show", "volume freeze", "volume thaw")  # `fix-mounts` is about a pod or a workload


async def cluster_now(
    name: str, suggested: Collection[Suggestion], snapshot: StoreSnapshot, seen: SeenCluster | None
) -> ClusterNow:
    """Return what is known of the objects that the suggestions name. Without `seen` only our own rows say something."""
    nodes = {one.object for one in suggested if one.command.startswith(("node ", "gpu cordon"))}
    nodes |= {one.node for one in suggested if one.node}
    to_freeze = {one.object for one in suggested if one.command == "volume freeze"}
    volumes = {one.object for one in suggested if one.command in _ABOUT_A_VOLUME}
    volumes |= {one.volume for one in suggested if one.volume}
    trainings = {one.object for one in suggested if one.command.startswith(("training ", "gpu free"))}
    held = await _cordoned(name, nodes, snapshot)
    frozen = await _frozen(name, to_freeze, snapshot)
    if seen is None:
        return ClusterNow(cordoned=held, frozen=frozen)
    try:
        inventory = seen.inventory()
    except SourceError:
        return ClusterNow(cordoned=held, frozen=frozen)
    found = _trainings(seen) if trainings else None
    known = {name: one for one in found or () for name in (one.shown, one.typed) if name in trainings}
    uses = _uses(inventory, volumes)
    missing = {*(nodes - inventory.nodes.keys() if not inventory.missing_reason(NODES) else ())}
    if not inventory.missing_reason(PERSISTENT_VOLUME_CLAIMS):
        missing |= volumes - uses.keys()
    if found is not None:
        missing |= trainings - known.keys()
    return ClusterNow(
        cordoned=held
        | {node for node in nodes & inventory.nodes.keys() if inventory.nodes[node].spec.unschedulable},
        with_devices=frozenset(node for node in nodes if inventory.whole_gpus_on(node)),
        cordoned_gpus=frozenset((node, one.gpu) for node in nodes for one in cordoned_gpus(inventory, node)),
        frozen=frozenset(
            volume
            for volume in frozen
            if volume not in uses or not suspended(uses[volume].templates, inventory)
        ),
        writers=_writers(uses, inventory, found) if found is not None else {},
        idle=frozenset(name for name, one in known.items() if not one.gpus),
        over=frozenset(name for name, one in known.items() if one.state.is_over),
        missing=frozenset(missing - {""}),
    )


async def _cordoned(cluster: str, nodes: Collection[str], snapshot: StoreSnapshot) -> frozenset[str]:
    """Return the nodes with a cordon of ours: the cluster may not show a new one yet."""
    leases = await snapshot.rows(CordonLease).find(cluster=cluster, node=sorted(nodes)) if nodes else ()
    return frozenset(lease.node for lease in leases if lease.lifted_at is None)


async def _frozen(cluster: str, volumes: Collection[str], snapshot: StoreSnapshot) -> frozenset[str]:
    """Return the volumes that somebody froze, for whatever incident, and that nobody thawed."""
    if not volumes:
        return frozenset()
    done = await snapshot.rows(Plan).find(
        cluster=cluster, state=PlanState.DONE.value, newest=True, limit=PLANS_READ
    )
    lines = (plan.line.split() for plan in done if plan.command == "volume freeze" and not plan.undone_by)
    return frozenset(volumes) & {words[2] for words in lines if len(words) > 2}


def _trainings(seen: SeenCluster) -> Sequence[Training] | None:
    """Return the trainings; None while not all of them can be seen."""
    try:
        return seen.trainings()
    except SourceError:
        return None


def _uses(inventory: Inventory, volumes: Collection[str]) -> Mapping[str, VolumeUse]:
    if not volumes:
        return {}
    named = {
        name: use for use in volume_uses(inventory).values() for name in (*use.claims, *use.volumes, use.rbd)
    }
    return {volume: named[volume] for volume in volumes if volume in named}


def _writers(
    uses: Mapping[str, VolumeUse], inventory: Inventory, trainings: Iterable[Training]
) -> Mapping[str, frozenset[str]]:
    by_workload = {
        workload: one.typed for one in trainings if uses for workload in (*one.owned, *one.workloads)
    }
    return {volume: frozenset(_of(use, inventory, by_workload)) for volume, use in uses.items()}


def _of(use: VolumeUse, inventory: Inventory, by_workload: Mapping[str, str]) -> Iterable[str]:
    workloads = {*use.templates, *(inventory.workload_of(user.pod) for user in use.writers)}
    return (by_workload[workload] for workload in workloads if workload in by_workload)
