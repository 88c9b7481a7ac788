"""A cluster with one training of two ranks on two nodes, and its topology."""

from typing import Any

from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import (
    Job,
    Namespace,
)
from tests.support.objects import gpus, inventory, node, owned, pod, read

INDEX = "batch.kubernetes.io/job-completion-index"


def made(type_: Any, name: str, namespace: str = "default", **parts: Any) -> Any:
    metadata = {"name": name, "namespace": namespace, **parts.pop("metadata", {})}
    return read(type_, {"metadata": metadata, **parts})


def cluster() -> Inventory:
    """One training with two ranks on two nodes, and an exporter."""
    both = [{"type": "InternalIP", "address": one} for one in ("10.0.0.11", "fd00::a:11")]
    address = {"status": {"addresses": both}}
    worker = {"spec": {"containers": [gpus(8)]}}
    return inventory(
        node(
            "gpu-a01",
            labels={"topology.kubernetes.io/rack": "rack-a", "nvidia.com/gpu.product": "NVIDIA-H200"},
            **address,
        ),
        node("gpu-b01", labels={"rack": "rack-b"}, spec={"unschedulable": True}),
        read(
            Namespace,
            {
                "metadata": {
                    "name": "vision-detr",
                    "labels": {"training": "detr", "team": "vision"},
                    "annotations": {"yardmaster.io/owner": "ana"},
                }
            },
        ),
        made(
            Job, "detr-worker", "vision-detr", spec={"parallelism": 2, "completions": 2, "template": worker}
        ),
        *(
            pod(
                f"detr-worker-{index}",
                "vision-detr",
                labels={INDEX: str(index)},
                ownerReferences=owned("Job", "detr-worker"),
                spec={"nodeName": host, "containers": [gpus(8)]},
                status={"podIP": f"10.244.{index}.20"},
            )
            for index, host in enumerate(["gpu-a01", "gpu-b01"])
        ),
        pod(
            "dcgm-exporter-6ldbb",
            "monitoring",
            ownerReferences=owned("DaemonSet", "dcgm-exporter"),
            spec={"nodeName": "gpu-b01"},
            status={"podIP": "10.244.1.7"},
        ),
    )
