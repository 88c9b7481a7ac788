"""Scaling of cluster DNS through the owner of its replicas, until they are ready, and undo."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from collectors.cluster.kinds import DEPLOYMENTS
from commands.dns.show_dns import _MEASURES
from tests.support.deployments import a_deployment_tree, a_program
from tests.support.light import Light, light

LINEAR = '{"nodesPerReplica":10,"min":2,"max":50,"preventSinglePointFailure":true}'
PODS = {"k8s-app": "kube-dns"}


def add_dns(stage: Light) -> None:
    stage.kube.create(
        a_deployment_tree("coredns", PODS, a_program("coredns"), replicas=2), namespace="kube-system"
    )


def add_autoscaler(stage: Light) -> None:
    command = ("/cpa", "--configmap=dns-autoscaler", "--target=Deployment/coredns", "--namespace=kube-system")
    stage.kube.create(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "dns-autoscaler"},
            "data": {"linear": LINEAR},
        },
        namespace="kube-system",
    )
    stage.kube.create(
        a_deployment_tree("dns-autoscaler", {"k8s-app": "scaler"}, a_program("dns-autoscaler", *command)),
        namespace="kube-system",
    )


def add_hpa(stage: Light) -> None:
    stage.kube.create(
        {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "coredns"},
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "coredns"},
                "minReplicas": 2,
                "maxReplicas": 4,
            },
        },
        namespace="kube-system",
    )


def config(stage: Light) -> dict[str, Any]:
    found = stage.kube.get("configmaps", "kube-system", "dns-autoscaler")
    assert found is not None
    return dict(found)


def replicas(stage: Light) -> int:
    found = stage.kube.get("deployments", "kube-system", "coredns")
    assert found is not None
    return int(found["spec"]["replicas"])


def ready(stage: Light) -> int:
    found = stage.kube.get("deployments", "kube-system", "coredns")
    assert found is not None
    return int(found.get("status", {}).get("readyReplicas", 0))


def follow_owner(stage: Light) -> None:
    """Act as the proportional autoscaler, the HPA's controller and the kubelets."""
    target = 0
    if stage.kube.get("configmaps", "kube-system", "dns-autoscaler") is not None:
        target = json.loads(config(stage)["data"]["linear"])["min"]
    elif (hpa := stage.kube.get("horizontalpodautoscalers", "kube-system", "coredns")) is not None:
        target = hpa["spec"]["minReplicas"]
    if target and target != replicas(stage):
        stage.kube.patch("deployments", "kube-system", "coredns", {"spec": {"replicas": target}})
    for pod in stage.kube.list("pods", "kube-system", labels="k8s-app=kube-dns"):
        if pod["spec"].get("nodeName") and pod.get("status", {}).get("phase") != "Running":
            conditions = [{"type": "Ready", "status": "True"}]
            status = {"status": {"phase": "Running", "conditions": conditions}}
            stage.kube.patch("pods", "kube-system", pod["metadata"]["name"], status, status=True)


@asynccontextmanager
async def running_controllers(stage: Light) -> AsyncIterator[None]:
    """Run the controllers of the cluster within the block."""

    async def follow() -> None:
        while True:
            follow_owner(stage)
            await asyncio.sleep(0.1)

    task = stage.tasks.create_task(follow())
    try:
        await stage.until(lambda: ready(stage) >= 2)
        names = {f"kube-system/{one['metadata']['name']}" for one in stage.kube.list("deployments")}
        await stage.cached(lambda found: names <= set(found.all(DEPLOYMENTS)))
        yield
    finally:
        task.cancel()


async def scaled(stage: Light, to: int) -> None:
    preview = await stage.asks("dana", f"dns scale {to}")
    assert f"Scale DNS from 2 to {to} replicas?" in preview.said
    assert not stage.writes("/kube-system/")
    await stage.presses("dana", preview, "Confirm")
    await stage.plan_is("done")
    assert ready(stage) == to
    await stage.cached(lambda found: found.all(DEPLOYMENTS)["kube-system/coredns"].spec.replicas == to)


@asynccontextmanager
async def scaled_by_its_autoscaler(folder: Path) -> AsyncIterator[Light]:
    """Yield a stage whose DNS was scaled to 6 replicas through the autoscaler's ConfigMap."""
    async with light(folder) as stage:
        add_dns(stage)
        add_autoscaler(stage)
        async with running_controllers(stage):
            await scaled(stage, 6)
            yield stage


async def undone(stage: Light) -> None:
    preview = await stage.asks("dana", "plan undo p1")
    await stage.presses("dana", preview, "Confirm")
    await stage.plan_is("done", "p2")


async def test_the_min_of_the_proportional_autoscaler_is_changed_and_restored_exactly(
    tmp_path: Path,
) -> None:
    async with scaled_by_its_autoscaler(tmp_path) as stage:
        assert json.loads(config(stage)["data"]["linear"]) == {**json.loads(LINEAR), "min": 6}
        assert config(stage)["metadata"]["annotations"]["yardmaster.io/old-value"] == LINEAR
        assert [seen.path.rsplit("/", 2)[1:] for seen in stage.writes("/kube-system/")] == [
            ["configmaps", "dns-autoscaler"]
        ]
        await undone(stage)
        assert config(stage)["data"]["linear"] == LINEAR
        assert not config(stage)["metadata"].get("annotations")
        await stage.until(lambda: replicas(stage) == 2)


async def test_undo_does_not_overwrite_an_autoscaler_that_somebody_else_changed(
    tmp_path: Path,
) -> None:
    async with scaled_by_its_autoscaler(tmp_path) as stage:
        theirs = LINEAR.replace('"min":2', '"min":9')
        stage.kube.patch("configmaps", "kube-system", "dns-autoscaler", {"data": {"linear": theirs}})
        answer = await stage.asks("dana", "plan undo p1")
        assert "run the command again" in answer.said
        assert config(stage)["data"]["linear"] == theirs


async def test_the_min_replicas_of_an_hpa_are_changed_and_restored(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        add_dns(stage)
        add_hpa(stage)

        def bounds() -> tuple[int, int]:
            found = stage.kube.get("horizontalpodautoscalers", "kube-system", "coredns")
            assert found is not None
            return found["spec"]["minReplicas"], found["spec"]["maxReplicas"]

        async with running_controllers(stage):
            await scaled(stage, 6)
            assert bounds() == (6, 6)
            await undone(stage)
            assert bounds() == (2, 4)


async def test_without_an_owner_the_deployment_itself_is_scaled_and_restored(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        add_dns(stage)
        async with running_controllers(stage):
            await scaled(stage, 3)
            assert [seen.path.rsplit("/", 2)[1:] for seen in stage.writes("/kube-system/")] == [
                ["coredns", "scale"]
            ]
            await undone(stage)
            assert replicas(stage) == 2


async def test_show_names_the_owner_of_the_replicas_and_the_measured_load(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        add_dns(stage)
        add_autoscaler(stage)
        for (_, query, _), value in zip(_MEASURES, (1234.0, 0.1029, 0.4, 7.032), strict=True):
            stage.prometheus.truth.say(query, ({}, value), since=stage.clock.now())
        await stage.cached(lambda found: "kube-system/dns-autoscaler" in found.all(DEPLOYMENTS))
        shown = (await stage.asks("dana", "dns show")).said
        assert all(
            word in shown for word in ("kube-system/coredns", "0 ready of 2", "dns-autoscaler", "1234/s")
        )
        assert "10 %" in shown
        assert "7.0 s" in shown
        assert "min 2, max 50, one replica for 10 nodes" in shown
        assert "{" not in shown
        assert "[Scale to 3]" in shown
        assert "[Scale to" not in (await stage.asks("pat", "dns show")).said
