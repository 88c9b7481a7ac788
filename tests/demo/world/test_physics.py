"""The physics: causes have their effects, and the effects end with the causes."""

from datetime import timedelta
from typing import Any

import pytest

from demo.world.faults import UnknownFaultError
from demo.world.layout import demo_layout
from demo.world.pod_placement import NoCapacityError, place, remove
from demo.world.shared_services import PodKey, Volume
from demo.world.state import Body, Phase, Role, initial_state
from tests.demo.world.clusters import DETR, START, Cluster


def test_a_working_gpu_is_warm_and_at_full_clock(cluster: Cluster) -> None:
    gpu = cluster.state.hosts[cluster.nodes_of(DETR)[0]].gpus[0]
    assert 55 < gpu.temperature < 72
    assert gpu.clock == pytest.approx(1980, rel=0.01)
    assert gpu.utilisation > 90


def test_a_free_gpu_is_cool(cluster: Cluster) -> None:
    free = [gpu for gpu in cluster.state.gpus() if gpu.pod is None]
    assert free
    assert all(gpu.temperature < 35 and gpu.power < 100 for gpu in free)


def test_a_gpu_overheats_and_throttles_when_its_cooling_fails(cluster: Cluster) -> None:
    node = cluster.nodes_of(DETR)[0]
    cluster.faults.start("cooling", node=node)
    cluster.run(60)
    gpu = cluster.state.hosts[node].gpus[0]
    assert gpu.temperature > 85
    assert gpu.clock < 1700
    assert {name for _, name in gpu.clock_events} >= {"sw_thermal"}


def test_one_throttled_server_slows_the_whole_synchronous_training(cluster: Cluster) -> None:
    before = cluster.detr.step_seconds
    cluster.faults.start("cooling", node=cluster.nodes_of(DETR)[0])
    cluster.run(60)
    assert cluster.detr.step_seconds > 1.15 * before


def test_ranks_that_wait_for_a_throttled_one_use_less_power(cluster: Cluster) -> None:
    hot, other = cluster.nodes_of(DETR)[:2]
    before = cluster.state.hosts[other].gpus[0].power
    cluster.faults.start("cooling", node=hot)
    cluster.run(60)
    waiting = cluster.state.hosts[other].gpus[0]
    assert waiting.power < 0.95 * before
    assert waiting.utilisation > 90, "in synchronous training utilisation does not show which rank is slow"


def test_a_hot_server_cools_when_the_fault_ends(cluster: Cluster) -> None:
    node = cluster.nodes_of(DETR)[0]
    cluster.faults.start("cooling", node=node, lasting=timedelta(seconds=90))
    cluster.run(300)
    assert cluster.state.hosts[node].gpus[0].temperature < 72
    assert cluster.detr.step_seconds == pytest.approx(0.82, rel=0.05)
    assert cluster.faults.running == []


def test_a_hot_server_cools_when_its_pods_are_removed(cluster: Cluster) -> None:
    node = cluster.nodes_of(DETR)[0]
    cluster.faults.start("cooling", node=node)
    cluster.run(60)
    for body in [b for b in cluster.state.bodies.values() if b.node == node]:
        remove(cluster.state, body.key)
    cluster.run(180)
    assert cluster.state.hosts[node].gpus[0].temperature < 45


def test_hot_inlet_air_heats_the_servers_of_its_rack_only(cluster: Cluster) -> None:
    cluster.faults.start("cooling", rack="rack-a")
    cluster.run(120)
    hot = {g.node for g in cluster.state.gpus() if g.temperature > 80}
    busy = {g.node for g in cluster.state.gpus() if g.pod and g.node.startswith("gpu-a")}
    assert hot == busy


def test_a_gpu_off_the_bus_stalls_its_training_and_all_ranks_fail(cluster: Cluster) -> None:
    sick, other = cluster.nodes_of(DETR)[:2]
    cluster.faults.start("xid", node=sick, gpu=3, xid=79)
    cluster.run(10)
    spinning = cluster.state.hosts[other].gpus[0]
    assert cluster.detr.phase.value == "stalled"
    assert (spinning.utilisation, spinning.tensor) == (100.0, 0.0)
    events = cluster.run(70)
    assert cluster.detr.phase is Phase.FAILED
    assert {event.what for event in events} >= {"watchdog"}
    assert {b.exit for b in cluster.state.bodies.values() if b.training == DETR} == {134}


def test_an_xid_that_needs_no_action_does_not_stop_the_training(cluster: Cluster) -> None:
    cluster.faults.start("xid", node=cluster.nodes_of(DETR)[0], gpu=0, xid=63)
    cluster.run(90)
    assert cluster.detr.phase is Phase.RUNNING


def test_a_dead_gpu_is_not_allocated(cluster: Cluster) -> None:
    free = next(
        h for h in cluster.state.hosts.values() if h.spec.pool == "large" and not any(g.pod for g in h.gpus)
    )
    cluster.faults.start("xid", node=free.name, gpu=0)
    body = Body(key=PodKey("x", "wide"), uid="1", node=free.name, role=Role.WORKER, container="c")
    with pytest.raises(NoCapacityError, match=r"Requested: 8, Available: 7, which is unexpected"):
        place(cluster.state, body, gpus=8)


def test_dns_loses_queries_above_its_capacity_and_recovers_when_scaled(cluster: Cluster) -> None:
    assert cluster.state.dns.lost == 0
    cluster.faults.start("dns_load", tasks=640)
    cluster.run(5)
    assert cluster.state.dns.lost > 0.05
    assert cluster.state.dns.latency > 0.1
    cluster.scale_dns(3)
    cluster.run(5)
    assert cluster.state.dns.lost == 0
    assert cluster.state.dns.latency < 0.05


@pytest.mark.parametrize(("tasks", "fails"), [(500, False), (640, True)])
def test_only_trainings_of_more_than_about_600_tasks_overload_two_replicas(
    cluster: Cluster, tasks: int, fails: bool
) -> None:
    cluster.faults.start("dns_load", tasks=tasks)
    cluster.run(3)
    assert (cluster.state.dns.lost > 0) is fails


def test_a_training_cannot_start_while_lookups_fail(cluster: Cluster) -> None:
    cluster.faults.start("dns_load", tasks=640)
    cluster.run(2)
    cluster.detr.enter(Phase.WAITING, cluster.state.now)
    events = cluster.run(40)
    assert cluster.detr.phase.value == "starting"
    assert "lookup-failed" in {event.what for event in events}
    cluster.faults.end("dns_load")
    cluster.run(20)
    assert cluster.detr.phase is Phase.RUNNING


def test_a_leak_fills_the_server_until_the_kernel_kills_the_pod(cluster: Cluster) -> None:
    victim = cluster.state.ranks_of(DETR)[0]
    cluster.faults.start("memory_leak", node=victim.node, pod=victim.key.name, minutes=2)
    host = cluster.state.hosts[victim.node]
    cluster.run(60)
    assert 0.3 < host.memory_available / host.spec.memory < 0.7
    events = cluster.run(90)
    assert [h.pod for h in events if h.what == "oom"] == [victim.key]
    assert (victim.exit, victim.exit_reason, host.oom_kills) == (137, "OOMKilled", 1)
    cluster.run(1)
    assert host.memory_available > 0.8 * host.spec.memory, "the memory of the killed pod is free again"


def test_a_training_that_loses_a_rank_waits_and_returns_to_its_checkpoint(cluster: Cluster) -> None:
    lost = cluster.state.ranks_of(DETR)[1]
    remove(cluster.state, lost.key)
    cluster.run(5)
    assert cluster.detr.phase is Phase.WAITING
    assert cluster.detr.steps == cluster.detr.checkpoint_steps


def test_an_idle_training_holds_its_gpus_without_using_them(cluster: Cluster) -> None:
    cluster.faults.start("idle", training="vision-detr")
    cluster.run(10)
    gpus = [gpu for body in cluster.state.ranks_of(DETR) for gpu in cluster.state.gpus_of(body)]
    assert {gpu.utilisation for gpu in gpus} == {0.0}
    assert min(gpu.memory_used for gpu in gpus) > 1024
    cluster.faults.end("idle")
    cluster.run(10)
    assert cluster.detr.phase is Phase.RUNNING


def test_cpu_load_outside_pods_slows_a_training(cluster: Cluster) -> None:
    cluster.faults.start("cpu_burn", node=cluster.nodes_of(DETR)[0], share=0.9)
    cluster.run(10)
    assert cluster.state.hosts[cluster.nodes_of(DETR)[0]].busy > 0.9
    assert cluster.detr.step_seconds > 0.95


def test_a_full_disk_is_freed_when_the_fault_ends(cluster: Cluster) -> None:
    host = cluster.state.hosts["gpu-a01"]
    cluster.faults.start("disk_fill", node="gpu-a01", minutes=1)
    cluster.run(58)
    assert host.disk_share_used > 0.9
    cluster.faults.end("disk_fill")
    assert host.disk_share_used < 0.5


def test_a_held_volume_is_formatted_unless_it_is_released_in_time(cluster: Cluster) -> None:
    claim = PodKey("vision-detr", "coco-images")
    for node, is_released in (("gpu-a01", False), ("gpu-a02", True)):
        volume = Volume(claim=claim, image="csi-vol-coco-images", capacity=4e12, used=2.4e12)
        cluster.state.ceph.volumes[claim] = volume
        cluster.faults.start("volume_format", node=node, pace=5)
        before = [event.what for event in cluster.run(22)]
        volume.busy = not is_released
        after = [event.what for event in cluster.run(10)]
        cluster.faults.end("volume_format")
        assert before.count("unmap-failed") == 2
        assert before.count("mount-failed") == 2
        assert ("format" in after) is not is_released
        assert (volume.used < 0.01 * volume.capacity) is not is_released


def test_two_worlds_with_the_same_seed_are_equal() -> None:
    def temperatures() -> list[float]:
        cluster = Cluster(initial_state(demo_layout(), START, seed=3))
        cluster.run(60, pace=10)
        return [gpu.temperature for gpu in cluster.state.gpus()]

    assert temperatures() == temperatures()


@pytest.mark.parametrize(
    ("name", "parameters", "error"),
    [
        pytest.param("coling", {}, "no fault 'coling'; choose from cooling", id="an unknown fault"),
        pytest.param("xid", {"node": "gpu-a01"}, "takes node, gpu, xid", id="a missing parameter"),
        pytest.param("xid", {"node": "gpu-z9", "gpu": 0}, "no node 'gpu-z9'", id="an unknown node"),
        pytest.param("xid", {"node": "gpu-a01", "gpu": 9}, "has 8 GPUs", id="an unknown GPU"),
        pytest.param("idle", {"training": "nope"}, "no training 'nope'", id="an unknown training"),
    ],
)
def test_an_invalid_fault_is_rejected_with_the_valid_choices(
    cluster: Cluster, name: str, parameters: dict[str, Any], error: str
) -> None:
    with pytest.raises(UnknownFaultError, match=error):
        cluster.faults.start(name, **parameters)
