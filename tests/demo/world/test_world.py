"""This file runs the whole world against the look-alike of the API server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from demo.lookalikes.kubernetes import KubernetesLookalike
from demo.world.kube.api import Access
from demo.world.kube.bodies import body_of
from demo.world.kube.training_objects import RUN_FOR, STEP_SECONDS, training
from demo.world.layout import TrainingSpec
from demo.world.state import Phase
from demo.world.world import Settings, World
from tests.demo.world.clusters import DETR

Json = dict[str, Any]


@asynccontextmanager
async def a_world(
    *, samples: Path | None = None, past: timedelta = timedelta(minutes=10)
) -> AsyncIterator[tuple[KubernetesLookalike, World]]:
    """A world that lives, over a look-alike; ten times as fast as the clock."""
    async with KubernetesLookalike.running(port=0) as kube:
        access = Access(url=kube.url, token=kube.admin_token)
        settings = Settings(
            access=access, past=past, samples=samples, tick=timedelta(milliseconds=50), speed=10
        )
        async with World(settings) as world, asyncio.timeout(60), asyncio.TaskGroup() as tasks:
            living = tasks.create_task(world.run())
            await world.ready.wait()
            yield kube, world
            living.cancel()


async def until(holds: Callable[[], object], what: str) -> None:
    """Wait, for a bounded time, until it holds."""
    try:
        async with asyncio.timeout(20):
            while not holds():  # noqa: ASYNC110  the look-alike and the world have no common event to wait for
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(f"waited in vain: {what}") from None


def condition(found: Json | None, kind: str) -> str:
    held = {c["type"]: c["status"] for c in ((found or {}).get("status") or {}).get("conditions") or []}
    return str(held.get(kind, ""))


def idle_of_the_large_pool(world: World) -> list[str]:
    """Its servers on which no GPU is given to anybody."""
    hosts = world.state.hosts.values()
    return [
        host.name for host in hosts if host.spec.pool == "large" and not any(gpu.pod for gpu in host.gpus)
    ]


async def test_it_builds_a_cluster_in_which_everything_runs() -> None:
    async with a_world() as (kube, world):
        nodes = kube.list("nodes")
        assert len(nodes) == 18
        assert {condition(node, "Ready") for node in nodes} == {"True"}
        assert {pod["status"]["phase"] for pod in kube.list("pods")} == {"Running"}
        assert {t.phase for t in world.state.trainings.values()} == {Phase.RUNNING}
        assert idle_of_the_large_pool(world) == ["gpu-d03"]
        assert not any(node["spec"].get("unschedulable") for node in nodes)
        assert len(world.state.names.servers) == 2
        claim = kube.get("persistentvolumeclaims", "vision-detr", "coco-images")
        assert claim is not None
        assert claim["status"]["phase"] == "Bound"
        detr = kube.get("jobs", "vision-detr", "detr-worker")
        assert detr is not None
        assert (detr["status"]["active"], detr["metadata"]["labels"]["owner"]) == (4, "ana")


async def test_every_gpu_that_the_scheduler_gave_is_a_gpu_of_the_world() -> None:
    async with a_world() as (kube, world):
        for pod in kube.list("pods", labels="role=worker"):
            limit = int(pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"])
            held = [
                gpu
                for gpu in world.state.gpus()
                if gpu.pod == (pod["metadata"]["namespace"], pod["metadata"]["name"])
            ]
            assert len(held) == limit
            assert {gpu.node for gpu in held} == {pod["spec"]["nodeName"]}


async def test_a_dead_gpu_fails_the_job_and_is_no_longer_allocatable() -> None:
    async with a_world() as (kube, world):
        node = world.truth()["trainings"]["vision-detr/detr-worker"]["nodes"][0]
        world.faults.start("xid", node=node, gpu=1, xid=79)
        await until(
            lambda: condition(kube.get("jobs", "vision-detr", "detr-worker"), "Failed") == "True",
            "the job fails",
        )
        await until(
            lambda: (kube.get("nodes", "", node) or {})["status"]["allocatable"]["nvidia.com/gpu"] == "7",
            "the device plugin takes the card away",
        )
        assert (kube.get("nodes", "", node) or {})["status"]["capacity"]["nvidia.com/gpu"] == "8"
        failed = [
            p
            for p in kube.list("pods", "vision-detr", labels="role=worker")
            if p["status"]["phase"] == "Failed"
        ]
        codes = {p["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] for p in failed}
        assert codes <= {134, 137, 143}
        assert 134 in codes


async def test_an_evicted_rank_comes_back_elsewhere_and_the_training_goes_on() -> None:
    async with a_world() as (kube, world):
        rank = world.state.ranks_of(DETR)[0]
        kube.patch("nodes", "", rank.node, {"spec": {"unschedulable": True}})
        await world.api.call(
            "POST",
            f"/api/v1/namespaces/{rank.key.namespace}/pods/{rank.key.name}/eviction",
            {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": rank.key.name}},
        )
        await until(lambda: rank.key not in world.state.bodies, "the kubelet lets the pod go")
        await until(
            lambda: (
                len(ranks := world.state.ranks_of(DETR)) == 4 and rank.node not in {b.node for b in ranks}
            ),
            "a new pod on another node",
        )
        await until(lambda: world.state.trainings[DETR].phase is Phase.RUNNING, "the training runs again")
        assert world.state.hosts[rank.node].cordoned


async def test_a_training_that_somebody_starts_runs_to_its_end() -> None:
    async with a_world() as (kube, _):
        spec = TrainingSpec(
            namespace="vision-new", name="new", team="vision", owner="mei", workers=2, gpus=4, servers=1, pool="small",
            step_seconds=0.1,
        )  # fmt: skip
        kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "vision-new"}})
        for made in training(spec, run_for=timedelta(seconds=20)):
            kube.create(made, namespace="vision-new")
        await until(
            lambda: condition(kube.get("jobs", "vision-new", "new-worker"), "Complete") == "True",
            "the job completes",
        )
        assert (
            RUN_FOR
            in (kube.get("jobs", "vision-new", "new-worker") or {})["spec"]["template"]["metadata"][
                "annotations"
            ]
        )


async def test_the_autoscaler_follows_its_config_map() -> None:
    async with a_world() as (kube, world):
        document = '{"nodesPerReplica": 4, "min": 1, "max": 50, "preventSinglePointFailure": true}'
        kube.patch("configmaps", "kube-system", "kube-dns-autoscaler", {"data": {"linear": document}})
        await until(
            lambda: (
                'nodesPerReplica": 4'
                in str(world.cache.get("ConfigMap", "kube-system", "kube-dns-autoscaler"))
            ),
            "the cache sees it",
        )
        await world.scaling.poll()
        await until(lambda: len(world.state.names.servers) == 5, "18 nodes by 4 are 5 replicas")
        kube.patch("configmaps", "kube-system", "kube-dns-autoscaler", {"data": {"linear": "{"}})
        await until(
            lambda: (
                (world.cache.get("ConfigMap", "kube-system", "kube-dns-autoscaler") or {})["data"]["linear"]
                == "{"
            ),
            "the cache sees it",
        )
        await world.scaling.poll()
        assert (kube.get("deployments", "kube-system", "coredns") or {})["spec"]["replicas"] == 5, (
            "the last good one stays"
        )


async def test_a_silent_kubelet_renews_no_lease_and_speaks_again_when_it_is_back() -> None:
    async with a_world() as (kube, world):

        def renewed(node: str) -> str:
            return str((kube.get("leases", "kube-node-lease", node) or {})["spec"]["renewTime"])

        world.faults.start("kubelet_silent", node="gpu-a01")
        pods = [b.key for b in world.state.bodies.values() if b.node == "gpu-a01"]
        before = renewed("gpu-a01")
        kube.delete("pods", pods[0].namespace, pods[0].name)
        world.heartbeats.forget_beats()
        await until(lambda: renewed("gpu-a02") > before, "another node beats")
        assert renewed("gpu-a01") == before
        assert kube.get("pods", *pods[0]) is not None, "nobody confirms the deletion"
        world.faults.end("kubelet_silent")
        world.heartbeats.forget_beats()
        await until(lambda: renewed("gpu-a01") > before, "it beats again")
        await until(lambda: kube.get("pods", *pods[0]) is None, "it confirms what waited")


async def test_a_leaking_server_is_killed_started_again_and_shows_it() -> None:
    async with a_world() as (kube, world):
        ps = next(
            b
            for b in world.state.bodies.values()
            if b.key.namespace == "vision-detr" and b.role.value == "ps"
        )
        world.faults.start("memory_leak", node=ps.node, pod=ps.key.name, minutes=0.3)

        def status() -> Json:
            found: Json = (kube.get("pods", *ps.key) or {})["status"]["containerStatuses"][0]
            return found

        await until(lambda: status()["restartCount"] == 1, "the container is started again")
        assert status()["lastState"]["terminated"]["reason"] == "OOMKilled"
        assert "running" in status()["state"]
        await until(
            lambda: [e for e in kube.list("events") if e["reason"] == "SystemOOM"],
            "the kubelet writes an Event",
        )


async def test_the_log_of_a_pod_is_what_its_training_printed() -> None:
    async with a_world() as (_, world):
        rank = world.state.ranks_of(DETR)[0]
        text = world.logs(rank.key.namespace, rank.key.name, "worker", 3)
        assert text is not None
        assert text.count(b"\n") == 3
        assert b"step_time" in text or b"checkpoint" in text
        assert world.logs("vision-detr", "nobody") is None


async def test_building_twice_changes_nothing() -> None:
    async with a_world() as (kube, world):
        before = {pod["metadata"]["uid"] for pod in kube.list("pods")}
        async with World(world.settings) as again, asyncio.TaskGroup() as tasks:
            living = tasks.create_task(again.run())
            await again.ready.wait()
            assert len(again.state.bodies) == len(world.state.bodies)
            living.cancel()
        assert {pod["metadata"]["uid"] for pod in kube.list("pods")} == before


@pytest.mark.parametrize("annotation", [RUN_FOR, STEP_SECONDS])
def test_hints_for_the_world_are_annotations_of_their_own(annotation: str) -> None:
    assert annotation.startswith("demo.yardmaster.io/")


def test_a_training_that_yardmaster_launched_is_known_by_its_own_labels() -> None:
    pod: Json = {
        "metadata": {
            "namespace": "x",
            "name": "x-worker-1-abcde",
            "uid": "u",
            "labels": {"batch.kubernetes.io/job-name": "x-worker", "yardmaster.io/training": "x"},
            "annotations": {"yardmaster.io/owner": "mei", "batch.kubernetes.io/job-completion-index": "1"},
        },
        "spec": {
            "nodeName": "gpu-a01",
            "containers": [{"name": "main", "ports": [{"name": "metrics", "containerPort": 9090}]}],
        },
    }
    body = body_of(pod, "10.1.1.1")
    assert (body.training, body.rank, body.metrics_port) == (("x", "x-worker"), 1, 9090)
    assert body.said["owner"] == "mei"
    pod["metadata"]["labels"] = {"yardmaster.io/training": "x", "yardmaster.io/role": "ps"}
    assert body_of(pod, "10.1.1.2").role.value == "ps"
