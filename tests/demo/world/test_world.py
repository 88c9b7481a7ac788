"""The whole world against the Kubernetes look-alike."""

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
async def running_world(
    *, samples: Path | None = None, past: timedelta = timedelta(minutes=10)
) -> AsyncIterator[tuple[KubernetesLookalike, World]]:
    """A running world on a look-alike, ten times as fast as the clock."""
    async with KubernetesLookalike.running(port=0) as kube:
        access = Access(url=kube.url, token=kube.admin_token)
        settings = Settings(
            access=access, past=past, samples=samples, tick=timedelta(milliseconds=50), speed=10
        )
        async with World(settings) as world, asyncio.timeout(60), asyncio.TaskGroup() as tasks:
            task = tasks.create_task(world.run())
            await world.ready.wait()
            yield kube, world
            task.cancel()


async def until(holds: Callable[[], object], what: str) -> None:
    """Wait up to 20 seconds until `holds()` is true."""
    try:
        async with asyncio.timeout(20):
            while not holds():  # noqa: ASYNC110  the look-alike and the world share no event to wait for
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(f"timed out waiting until {what}") from None


def condition(found: Json | None, kind: str) -> str:
    conditions = {c["type"]: c["status"] for c in ((found or {}).get("status") or {}).get("conditions") or []}
    return str(conditions.get(kind, ""))


def idle_of_the_large_pool(world: World) -> list[str]:
    """Return the servers of the large pool without an allocated GPU."""
    hosts = world.state.hosts.values()
    return [
        host.name for host in hosts if host.spec.pool == "large" and not any(gpu.pod for gpu in host.gpus)
    ]


async def test_the_world_builds_a_cluster_in_which_everything_runs() -> None:
    async with running_world() as (kube, world):
        nodes = kube.list("nodes")
        assert len(nodes) == 18
        assert {condition(node, "Ready") for node in nodes} == {"True"}
        assert {pod["status"]["phase"] for pod in kube.list("pods")} == {"Running"}
        assert {t.phase for t in world.state.trainings.values()} == {Phase.RUNNING}
        assert idle_of_the_large_pool(world) == ["gpu-d03"]
        assert not any(node["spec"].get("unschedulable") for node in nodes)
        assert len(world.state.dns.servers) == 2
        claim = kube.get("persistentvolumeclaims", "vision-detr", "coco-images")
        assert claim is not None
        assert claim["status"]["phase"] == "Bound"
        detr = kube.get("jobs", "vision-detr", "detr-worker")
        assert detr is not None
        assert (detr["status"]["active"], detr["metadata"]["labels"]["owner"]) == (4, "ana")


async def test_every_allocated_gpu_is_a_gpu_of_the_pods_node() -> None:
    async with running_world() as (kube, world):
        for pod in kube.list("pods", labels="role=worker"):
            limit = int(pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"])
            gpus = [
                gpu
                for gpu in world.state.gpus()
                if gpu.pod == (pod["metadata"]["namespace"], pod["metadata"]["name"])
            ]
            assert len(gpus) == limit
            assert {gpu.node for gpu in gpus} == {pod["spec"]["nodeName"]}


async def test_a_dead_gpu_fails_the_job_and_is_no_longer_allocatable() -> None:
    async with running_world() as (kube, world):
        node = world.ground_truth()["trainings"]["vision-detr/detr-worker"]["nodes"][0]
        world.faults.start("xid", node=node, gpu=1, xid=79)
        await until(
            lambda: condition(kube.get("jobs", "vision-detr", "detr-worker"), "Failed") == "True",
            "the job fails",
        )
        await until(
            lambda: (kube.get("nodes", "", node) or {})["status"]["allocatable"]["nvidia.com/gpu"] == "7",
            "the device plugin removes the GPU",
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


async def test_an_evicted_rank_is_replaced_on_another_node_and_the_training_continues() -> None:
    async with running_world() as (kube, world):
        rank = world.state.ranks_of(DETR)[0]
        kube.patch("nodes", "", rank.node, {"spec": {"unschedulable": True}})
        await world.api.call(
            "POST",
            f"/api/v1/namespaces/{rank.key.namespace}/pods/{rank.key.name}/eviction",
            {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": rank.key.name}},
        )
        await until(lambda: rank.key not in world.state.bodies, "the kubelet removes the pod")
        await until(
            lambda: (
                len(ranks := world.state.ranks_of(DETR)) == 4 and rank.node not in {b.node for b in ranks}
            ),
            "a new pod runs on another node",
        )
        await until(lambda: world.state.trainings[DETR].phase is Phase.RUNNING, "the training runs again")
        assert world.state.hosts[rank.node].cordoned


async def test_a_new_training_runs_to_completion() -> None:
    async with running_world() as (kube, _):
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


async def test_the_dns_autoscaler_follows_its_config_map() -> None:
    async with running_world() as (kube, world):
        document = '{"nodesPerReplica": 4, "min": 1, "max": 50, "preventSinglePointFailure": true}'
        kube.patch("configmaps", "kube-system", "kube-dns-autoscaler", {"data": {"linear": document}})
        await until(
            lambda: (
                'nodesPerReplica": 4'
                in str(world.cache.get("ConfigMap", "kube-system", "kube-dns-autoscaler"))
            ),
            "the cache sees it",
        )
        await world.dns_autoscaler.poll()
        await until(lambda: len(world.state.dns.servers) == 5, "18 nodes at 4 per replica give 5 replicas")
        kube.patch("configmaps", "kube-system", "kube-dns-autoscaler", {"data": {"linear": "{"}})
        await until(
            lambda: (
                (world.cache.get("ConfigMap", "kube-system", "kube-dns-autoscaler") or {})["data"]["linear"]
                == "{"
            ),
            "the cache sees it",
        )
        await world.dns_autoscaler.poll()
        assert (kube.get("deployments", "kube-system", "coredns") or {})["spec"]["replicas"] == 5, (
            "the last valid parameters stay in effect"
        )


async def test_a_silent_kubelet_renews_no_lease_until_it_is_back() -> None:
    async with running_world() as (kube, world):

        def renewed(node: str) -> str:
            return str((kube.get("leases", "kube-node-lease", node) or {})["spec"]["renewTime"])

        world.faults.start("kubelet_silent", node="gpu-a01")
        pods = [b.key for b in world.state.bodies.values() if b.node == "gpu-a01"]
        before = renewed("gpu-a01")
        kube.delete("pods", pods[0].namespace, pods[0].name)
        world.heartbeats.renew_next_tick()
        await until(lambda: renewed("gpu-a02") > before, "another node renews its lease")
        assert renewed("gpu-a01") == before
        assert kube.get("pods", *pods[0]) is not None, "no kubelet confirms the deletion"
        world.faults.end("kubelet_silent")
        world.heartbeats.renew_next_tick()
        await until(lambda: renewed("gpu-a01") > before, "it renews its lease again")
        await until(lambda: kube.get("pods", *pods[0]) is None, "it confirms the pending deletion")


async def test_a_leaking_parameter_server_is_oom_killed_and_restarted() -> None:
    async with running_world() as (kube, world):
        ps = next(
            b
            for b in world.state.bodies.values()
            if b.key.namespace == "vision-detr" and b.role.value == "ps"
        )
        world.faults.start("memory_leak", node=ps.node, pod=ps.key.name, minutes=0.3)

        def status() -> Json:
            found: Json = (kube.get("pods", *ps.key) or {})["status"]["containerStatuses"][0]
            return found

        await until(lambda: status()["restartCount"] == 1, "the container restarts")
        assert status()["lastState"]["terminated"]["reason"] == "OOMKilled"
        assert "running" in status()["state"]
        await until(
            lambda: [e for e in kube.list("events") if e["reason"] == "SystemOOM"],
            "the kubelet writes an Event",
        )


async def test_a_pods_log_contains_what_its_training_printed() -> None:
    async with running_world() as (_, world):
        rank = world.state.ranks_of(DETR)[0]
        text = world.logs(rank.key.namespace, rank.key.name, "worker", 3)
        assert text is not None
        assert text.count(b"\n") == 3
        assert b"step_time" in text or b"checkpoint" in text
        assert world.logs("vision-detr", "nobody") is None


async def test_building_twice_changes_nothing() -> None:
    async with running_world() as (kube, world):
        before = {pod["metadata"]["uid"] for pod in kube.list("pods")}
        async with World(world.settings) as again, asyncio.TaskGroup() as tasks:
            task = tasks.create_task(again.run())
            await again.ready.wait()
            assert len(again.state.bodies) == len(world.state.bodies)
            task.cancel()
        assert {pod["metadata"]["uid"] for pod in kube.list("pods")} == before


@pytest.mark.parametrize("annotation", [RUN_FOR, STEP_SECONDS])
def test_hints_for_the_world_have_their_own_annotation_prefix(annotation: str) -> None:
    assert annotation.startswith("demo.yardmaster.io/")


def test_a_training_launched_by_yardmaster_is_recognised_by_its_labels() -> None:
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
    assert body.metadata["owner"] == "mei"
    pod["metadata"]["labels"] = {"yardmaster.io/training": "x", "yardmaster.io/role": "ps"}
    assert body_of(pod, "10.1.1.2").role.value == "ps"
