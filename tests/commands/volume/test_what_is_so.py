"""Facts that a card learns about the cluster before it suggests something: who cordoned, froze and writes."""

from types import SimpleNamespace
from typing import cast

from alerts.cards.cluster_now import ClusterNow
from alerts.cards.suggested_actions import Suggestion
from alerts.store import StoreSnapshot
from collectors.cluster.kinds import DEPLOYMENTS
from commands.execution.plan import Plan, PlanState
from commands.incident.seen_cluster import cluster_now
from commands.models import CordonLease
from tests.commands.volume.conftest import Volumes, cached
from tests.support.rows import a_lease
from tests.support.yard import Yard

FREEZE = Suggestion(line="volume freeze vision/ckpt --node gpu-a01", volume="vision/ckpt")
STOP = Suggestion(line="training stop vision/detr --keep-namespace", volume="vision/ckpt")
CORDON = Suggestion(line='node cordon gpu-a01 --reason "x"')
SAMPLES = "vision/samples"
DETR = {"training": "detr", "owner": "ana"}


async def now(yard: Yard, *suggested: Suggestion, is_seen: bool = True) -> ClusterNow:
    async with yard.store.read() as snapshot:
        seen = yard.cluster if is_seen else None
        return await cluster_now(yard.cluster.name, suggested or (FREEZE, STOP, CORDON), snapshot, seen)


async def test_past_plans_are_read_only_for_a_card_that_offers_to_freeze(
    yard: Yard, volumes: Volumes
) -> None:
    await cached(yard, 0)

    async def read_for(*suggested: Suggestion) -> list[type]:
        read: list[type] = []

        def rows(row: type) -> object:
            read.append(row)
            return snapshot.rows(row)

        async with yard.store.read() as snapshot:
            recorded = SimpleNamespace(rows=rows)
            await cluster_now(yard.cluster.name, suggested, cast(StoreSnapshot, recorded), yard.cluster)
        return read

    assert await read_for(STOP, CORDON) == [CordonLease]
    assert await read_for(FREEZE) == [CordonLease, Plan]


async def test_a_cordon_is_seen_whoever_made_it(yard: Yard, volumes: Volumes) -> None:
    await cached(yard, 0)
    assert (await now(yard)).cordoned == frozenset()

    volumes.kube.patch("nodes", "", "gpu-a01", {"spec": {"unschedulable": True}})
    await yard.seen(lambda: bool(yard.cluster.inventory().nodes["gpu-a01"].spec.unschedulable))

    assert (await now(yard)).cordoned == {"gpu-a01"}


async def test_a_lease_counts_while_the_cluster_cannot_be_seen(yard: Yard, volumes: Volumes) -> None:
    async with yard.store.unit() as unit:
        await unit.rows(CordonLease).put(a_lease(yard.clock.now(), cluster=yard.cluster.name))

    assert (await now(yard, is_seen=False)).cordoned == {"gpu-a01"}


async def test_the_writer_of_a_volume_is_known_and_a_reader_is_none(yard: Yard, volumes: Volumes) -> None:
    volumes.job("detr", "gpu-a01", labels=DETR)
    volumes.pod("eval", "gpu-a02", read_only=True, owned_by="Operator/eval")
    await cached(yard, 2)
    await yard.seen(lambda: bool(yard.cluster.trainings()))  # the Job may come after its pod

    seen = await now(yard)

    assert seen.writers == {"vision/ckpt": frozenset({"vision/detr"})}
    assert not seen.missing


async def test_what_does_not_exist_is_missing(yard: Yard, volumes: Volumes) -> None:
    await cached(yard, 0)

    assert (await now(yard)).missing == {"vision/detr"}
    assert (await now(yard, is_seen=False)).missing == frozenset()


async def test_a_frozen_volume_is_frozen_for_every_incident_until_the_undo(
    yard: Yard, volumes: Volumes
) -> None:
    volumes.deployment("samples", "gpu-a01", replicas=1)
    await cached(yard, 1)
    assert (await now(yard)).frozen == frozenset()

    plan = await yard.do('volume freeze vision/ckpt --reason "its unmap failed"')
    assert plan.state is PlanState.DONE, plan.error
    await yard.seen(lambda: yard.cluster.inventory().all(DEPLOYMENTS)[SAMPLES].spec.replicas == 0)
    assert (await now(yard)).frozen == {"vision/ckpt"}

    await yard.do(f"plan undo {plan.id}")

    assert (await now(yard, is_seen=False)).frozen == frozenset()


async def test_an_owner_of_pods_whose_mounts_are_fixed_is_no_volume_that_is_missing(
    yard: Yard, volumes: Volumes
) -> None:
    await cached(yard, 0)
    fixes = Suggestion(line="volume fix-mounts monitoring/DaemonSet/node-exporter")
    gone = Suggestion(line="volume show vision/gone")

    assert (await now(yard, fixes, gone)).missing == {"vision/gone"}
