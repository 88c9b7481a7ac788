"""The Kubernetes objects of a training and its data set."""

from __future__ import annotations

from datetime import timedelta

from demo.world.kube.api import Object
from demo.world.kube.objects import container, scraped, service, workload
from demo.world.layout import GIB, TrainingSpec

RUN_FOR = "demo.yardmaster.io/run-for"  # seconds, on a worker's pod template


STEP_SECONDS = "demo.yardmaster.io/step-seconds"


DATASET = "coco-images"


def dataset(where: str, name: str) -> list[Object]:
    """Return a data set on an RBD image: a read-only-many volume and its claim."""
    size = {"storage": "4Ti"}
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"pv-{where}-{name}"},
        "spec": {
            "capacity": size,
            "accessModes": ["ReadOnlyMany", "ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "rbd-datasets",
            "claimRef": {"namespace": where, "name": name},
            "csi": {
                "driver": "rbd.csi.ceph.com",
                "volumeHandle": f"0001-0009-rook-ceph-{name}",
                "fsType": "ext4",
            },
        },
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": where},
        "spec": {
            "accessModes": ["ReadOnlyMany"],
            "resources": {"requests": size},
            "storageClassName": "rbd-datasets",
            "volumeName": f"pv-{where}-{name}",
        },
    }
    return [volume, claim]


def training(spec: TrainingSpec, *, run_for: timedelta | None = None) -> list[Object]:
    """Return a training's objects without the namespace: worker Job, parameter servers, a headless Service for each."""
    labels = {"team": spec.team, "owner": spec.owner, "training": spec.name}
    notes = {"yardmaster.io/team": spec.team, "yardmaster.io/owner": spec.owner}
    hints = {STEP_SECONDS: str(spec.step_seconds)} | (
        {RUN_FOR: str(int(run_for.total_seconds()))} if run_for is not None else {}
    )
    worker = container("worker", f"registry.dc1.example/{spec.team}/{spec.name}:2026.11", port=8080)
    worker["resources"] = {
        "requests": {"cpu": str(spec.worker_cpus), "memory": f"{spec.worker_memory // GIB}Gi"},
        "limits": {"nvidia.com/gpu": str(spec.gpus)} if spec.gpus else {},
    }
    if spec.gpus:
        worker["resources"]["requests"]["nvidia.com/gpu"] = str(spec.gpus)
    pod: Object = {
        "restartPolicy": "Never",
        "subdomain": spec.job,
        "nodeSelector": {"pool": spec.pool},
        "containers": [worker],
        "terminationGracePeriodSeconds": 10,
    }
    if spec.namespace == "vision-detr":
        worker["volumeMounts"] = [{"name": "dataset", "mountPath": "/data", "readOnly": True}]
        pod["volumes"] = [
            {"name": "dataset", "persistentVolumeClaim": {"claimName": DATASET, "readOnly": True}}
        ]
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": spec.job,
            "namespace": spec.namespace,
            "labels": labels | {"role": "worker"},
            "annotations": notes,
        },
        "spec": {
            "completionMode": "Indexed",
            "parallelism": spec.workers,
            "completions": spec.workers,
            "backoffLimit": 0,
            # An eviction does not fail the training: the rank is replaced on another node.
            "podFailurePolicy": {
                "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]
            },
            "template": {
                "metadata": {"labels": labels | {"role": "worker"}, "annotations": notes | hints},
                "spec": pod,
            },
        },
    }
    server = container(
        "ps", f"registry.dc1.example/{spec.team}/{spec.name}:2026.11", cpu="500m", memory="4Gi"
    )
    ps_labels = labels | {"role": "ps"}
    ps = workload(
        "Deployment",
        spec.namespace,
        spec.server_deployment,
        ps_labels,
        {"containers": [server], "nodeSelector": {"pool": spec.pool}, "subdomain": spec.server_deployment},
        replicas=spec.servers,
    )
    ps["metadata"]["annotations"] = notes
    return [
        job,
        ps,
        service(
            spec.namespace,
            spec.job,
            {"training": spec.name, "role": "worker"},
            {"metrics": 8080},
            annotations=scraped(8080),
            headless=True,
            labels=labels,
        ),
        service(
            spec.namespace,
            spec.server_deployment,
            {"training": spec.name, "role": "ps"},
            {"grpc": 2222},
            headless=True,
            labels=labels,
        ),
    ]
