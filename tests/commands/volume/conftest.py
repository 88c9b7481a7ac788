"""A look-alike with one RBD image, what uses it, and a command pipeline with the chart's rights for a freeze."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from demo.lookalikes.kubernetes import KubernetesLookalike, Settings, User
from tests.commands.training.test_rights import RIGHTS, grant
from tests.support.deployments import a_deployment_tree
from tests.support.quick_yaml import from_yaml
from tests.support.yard import Hands, Yard, a_node_tree, yard_before

SPACE = "vision"
RBD = {"clusterID": "rook", "pool": "kube", "imageName": "csi-vol-7"}


class Volumes:
    """The cluster, and the objects that use its volume."""

    def __init__(self, kube: KubernetesLookalike) -> None:
        self.kube = kube

    def volume(
        self,
        claim: str = "ckpt",
        *,
        space: str = SPACE,
        modes: tuple[str, ...] = ("ReadWriteOnce",),
        handle: str = "h-7",
    ) -> None:
        """Create a volume and its claim; volumes with the same handle are one image."""
        name = f"pv-{space}-{claim}"
        csi = {"driver": "rook-ceph.rbd.csi.ceph.com", "volumeHandle": handle, "volumeAttributes": RBD}
        size = {"storage": "1Ti"}
        spec: dict[str, Any] = {"accessModes": list(modes), "storageClassName": "rbd"}
        self.kube.create(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": name},
                "spec": {
                    **spec,
                    "capacity": size,
                    "csi": csi,
                    "claimRef": {"namespace": space, "name": claim},
                },
            }
        )
        self.kube.create(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": claim, "namespace": space},
                "spec": {**spec, "resources": {"requests": size}, "volumeName": name},
            }
        )

    def attached(self, node: str, volume: str = "pv-vision-ckpt") -> None:
        self.kube.create(
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "VolumeAttachment",
                "metadata": {"name": f"csi-{volume}-{node}"},
                "spec": {
                    "attacher": "rook-ceph.rbd.csi.ceph.com",
                    "nodeName": node,
                    "source": {"persistentVolumeName": volume},
                },
                "status": {"attached": True},
            },
            keep_status=True,
        )

    def pod_spec(self, node: str = "", *, claim: str = "ckpt", read_only: bool = False) -> dict[str, Any]:
        source = {"claimName": claim, **({"readOnly": True} if read_only else {})}
        return {
            "containers": [{"name": "main", "image": "i"}],
            "volumes": [{"name": "v", "persistentVolumeClaim": source}],
            **({"nodeName": node} if node else {}),
        }

    def pod(self, name: str, node: str = "", *, owned_by: str = "", **more: Any) -> None:
        """Create a pod, bare or of a controller of another kind, `Kind/name`."""
        meta: dict[str, Any] = {"name": name, "namespace": SPACE}
        if owned_by:
            kind, _, owner = owned_by.partition("/")
            group = "kubeflow.org" if kind == "PyTorchJob" else "batch" if kind == "Job" else "apps"
            reference = {
                "apiVersion": f"{group}/v1",
                "kind": kind,
                "name": owner,
                "uid": "u",
                "controller": True,
            }
            meta["ownerReferences"] = [reference]
        self.kube.create(
            {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": self.pod_spec(node, **more)}
        )

    def deployment(self, name: str, node: str = "", *, replicas: int = 1, **more: Any) -> None:
        pod = self.pod_spec(node, **more)
        self.kube.create(a_deployment_tree(name, {"app": name}, pod, replicas=replicas), namespace=SPACE)

    def job(self, name: str, node: str = "", *, labels: dict[str, str] | None = None, **more: Any) -> None:
        gpus = {"limits": {"nvidia.com/gpu": "4"}} if labels else {}
        container = {"name": "main", "image": "i", "resources": gpus}
        spec = {**self.pod_spec(node, **more), "restartPolicy": "Never", "containers": [container]}
        self.kube.create(
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": {"name": name, "namespace": SPACE, "labels": labels or {}},
                "spec": {"template": {"metadata": {"labels": labels or {}}, "spec": spec}},
            }
        )

    def cronjob(self, name: str) -> None:
        spec = {**self.pod_spec(), "restartPolicy": "Never"}
        self.kube.create(
            {
                "apiVersion": "batch/v1",
                "kind": "CronJob",
                "metadata": {"name": name, "namespace": SPACE},
                "spec": {"schedule": "@daily", "jobTemplate": {"spec": {"template": {"spec": spec}}}},
            }
        )

    def spec(self, kind: str, name: str) -> dict[str, Any]:
        space = "" if kind == "nodes" else SPACE
        found = self.kube.get(kind, space, name)
        assert found is not None
        spec: dict[str, Any] = found["spec"]
        return spec


@pytest.fixture
async def volumes(clock: Hands) -> AsyncIterator[Volumes]:
    """Three nodes and one volume; the user `bot` has the rights of the chart for `volume freeze`, and no others."""
    rights = from_yaml(RIGHTS.read_text())
    async with KubernetesLookalike.running(
        clock=clock.now, tokens={"bot": User("bot")}, settings=Settings(node_grace=None)
    ) as running:
        grant(running, "look", rights["look"]["cluster"])
        grant(running, "act", rights["act"]["volume freeze"]["cluster"])
        for name in ("gpu-a01", "gpu-a02", "gpu-a03"):
            running.create(a_node_tree(name), keep_status=True)
        running.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
        made = Volumes(running)
        made.volume()
        yield made


@pytest.fixture
async def yard(volumes: Volumes, clock: Hands, tmp_path: Path) -> AsyncIterator[Yard]:
    """While a plan waits, the kubelets start what is bound to them."""

    async def pause(_: float) -> None:
        await asyncio.sleep(0.01)
        for pod in volumes.kube.list("pods"):
            meta, ready = pod["metadata"], [{"type": "Ready", "status": "True"}]
            status = {"status": {"phase": "Running", "conditions": ready}}
            if pod["spec"].get("nodeName") and pod["status"].get("phase") == "Pending":
                volumes.kube.patch("pods", meta["namespace"], meta["name"], status, status=True)

    config = volumes.kube.kubeconfig(tmp_path / "bot", token="bot")
    async with yard_before(config, clock=clock, pause=pause) as made:
        yield made


async def cached(yard: Yard, pods: int) -> None:
    """Wait until the cache shows this many pods, all of them bound or owned, and the volume."""

    def holds() -> bool:
        seen = yard.cluster.inventory()
        return len(seen.pods) == pods

    await yard.seen(holds)
