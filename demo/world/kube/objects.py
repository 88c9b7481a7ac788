"""This file is the Kubernetes objects of the cluster: its platform services and its trainings, as people would write them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta

from demo.world.kube.api import Object
from demo.world.layout import CUDA, DRIVER, GIB, GPU_MEMORY_MIB, PRODUCT, Layout, NodeSpec, TrainingSpec

DNS_SPEC = {"nodesPerReplica": 10, "min": 1, "max": 50, "preventSinglePointFailure": True}
RUN_FOR = "demo.yardmaster.io/run-for"  # seconds, on a worker's pod template
STEP_SECONDS = "demo.yardmaster.io/step-seconds"
DATASET = "coco-images"
EVERYWHERE = [{"operator": "Exists"}]
INFRA = {"pool": "infra"}


def scraped(port: int, path: str = "/metrics") -> dict[str, str]:
    """The annotations by which Prometheus finds a Service."""
    return {"prometheus.io/scrape": "true", "prometheus.io/path": path, "prometheus.io/port": str(port)}


def node_labels(spec: NodeSpec) -> dict[str, str]:
    labels = {
        "kubernetes.io/hostname": spec.name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/zone": "dc1",
        "topology.kubernetes.io/rack": spec.rack,
        "rack": spec.rack,
        "pool": spec.pool,
    }
    if spec.gpus:
        major, minor, revision = DRIVER.split(".")
        labels |= {
            "nvidia.com/gpu.present": "true",
            "nvidia.com/gpu.product": PRODUCT,
            "nvidia.com/gpu.count": str(spec.gpus),
            "nvidia.com/gpu.memory": str(GPU_MEMORY_MIB),
            "nvidia.com/gpu.family": "hopper",
            "nvidia.com/gpu.replicas": "1",
            "nvidia.com/gpu.sharing-strategy": "none",
            "nvidia.com/mig.capable": "true",
            "nvidia.com/cuda.driver-version.full": DRIVER,
            "nvidia.com/cuda.driver-version.major": major,
            "nvidia.com/cuda.driver-version.minor": minor,
            "nvidia.com/cuda.driver-version.revision": revision,
            "nvidia.com/cuda.runtime-version.full": CUDA,
            "node-role.kubernetes.io/gpu": "",
        }
    return labels


def node(spec: NodeSpec) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": spec.name, "labels": node_labels(spec)},
        "spec": {},
    }


def namespace(
    name: str, labels: Mapping[str, str] | None = None, annotations: Mapping[str, str] | None = None
) -> Object:
    meta = {"name": name, "labels": dict(labels or {}), "annotations": dict(annotations or {})}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}


def container(
    name: str, image: str, *, port: int | None = None, cpu: str = "50m", memory: str = "128Mi"
) -> Object:
    made: Object = {"name": name, "image": image, "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    if port is not None:
        made["ports"] = [{"name": "metrics", "containerPort": port, "protocol": "TCP"}]
    return made


def workload(
    kind: str, where: str, name: str, labels: Mapping[str, str], pod: Object, *, replicas: int | None = None
) -> Object:
    """A Deployment or DaemonSet of these pods."""
    spec: Object = {
        "selector": {"matchLabels": dict(labels)},
        "template": {"metadata": {"labels": dict(labels)}, "spec": pod},
    }
    if replicas is not None:
        spec["replicas"] = replicas
    meta = {"name": name, "namespace": where, "labels": dict(labels)}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": spec}


def service(
    where: str,
    name: str,
    selector: Mapping[str, str],
    ports: Mapping[str, int],
    *,
    annotations: Mapping[str, str] | None = None,
    headless: bool = False,
    labels: Mapping[str, str] | None = None,
) -> Object:
    spec: Object = {
        "selector": dict(selector),
        "ports": [
            {"name": n, "port": p, "targetPort": p, "protocol": "UDP" if n == "dns" else "TCP"}
            for n, p in ports.items()
        ],
    }
    if headless:
        spec |= {"clusterIP": "None", "publishNotReadyAddresses": True}
    meta = {
        "name": name,
        "namespace": where,
        "labels": dict(labels or selector),
        "annotations": dict(annotations or {}),
    }
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}


def platform(layout: Layout) -> list[Object]:
    """DNS and its autoscaler, exporters, Ceph's manager."""
    return [*_dns(layout), *_monitoring(), *_ceph()]


def _dns(layout: Layout) -> list[Object]:
    labels = {"k8s-app": "kube-dns"}
    dns = container(
        "coredns", "registry.k8s.io/coredns/coredns:v1.12.3", port=9153, cpu="100m", memory="70Mi"
    )
    scaler = container(
        "autoscaler", "registry.k8s.io/cpa/cluster-proportional-autoscaler:v1.10.3", cpu="20m", memory="10Mi"
    )
    scaler["command"] = [
        "/cluster-proportional-autoscaler",
        "--namespace=kube-system",
        "--configmap=kube-dns-autoscaler",
        "--target=deployment/coredns",
        "--logtostderr=true",
        "--v=2",
    ]
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "kube-dns-autoscaler", "namespace": "kube-system"},
        "data": {"linear": json.dumps(DNS_SPEC)},
    }
    dns_pod = {"containers": [dns], "nodeSelector": INFRA, "tolerations": EVERYWHERE}
    return [
        config,
        workload("Deployment", "kube-system", "coredns", labels, dns_pod, replicas=2),
        service("kube-system", "kube-dns", labels, {"dns": 53, "metrics": 9153}, annotations=scraped(9153)),
        workload(
            "Deployment",
            "kube-system",
            "kube-dns-autoscaler",
            {"k8s-app": "kube-dns-autoscaler"},
            {"containers": [scaler], "nodeSelector": INFRA},
            replicas=1,
        ),
    ]


def _monitoring() -> list[Object]:
    def labels(name: str) -> dict[str, str]:
        return {"app.kubernetes.io/name": name}

    host = container("node-exporter", "quay.io/prometheus/node-exporter:v1.9.1", port=9100)
    host["args"] = ["--path.rootfs=/host/root"]
    host["volumeMounts"] = [
        {"name": "root", "mountPath": "/host/root", "mountPropagation": "HostToContainer", "readOnly": True}
    ]
    node_pod: Object = {
        "containers": [host],
        "hostNetwork": True,
        "hostPID": True,
        "tolerations": EVERYWHERE,
        "volumes": [{"name": "root", "hostPath": {"path": "/"}}],
    }
    gpu_pod: Object = {
        "containers": [
            container("exporter", "nvcr.io/nvidia/k8s/dcgm-exporter:4.2.3-4.1.3-ubuntu22.04", port=9400)
        ],
        "nodeSelector": {"nvidia.com/gpu.present": "true"},
        "tolerations": EVERYWHERE,
    }
    state_pod = {
        "containers": [
            container(
                "kube-state-metrics",
                "registry.k8s.io/kube-state-metrics/kube-state-metrics:v2.16.0",
                port=8080,
            )
        ],
        "nodeSelector": INFRA,
    }
    made: list[Object] = []
    for kind, name, port, pod in (
        ("DaemonSet", "node-exporter", 9100, node_pod),
        ("DaemonSet", "dcgm-exporter", 9400, gpu_pod),
        ("Deployment", "kube-state-metrics", 8080, state_pod),
    ):
        replicas = 1 if kind == "Deployment" else None
        made.append(workload(kind, "monitoring", name, labels(name), pod, replicas=replicas))
        made.append(
            service(
                "monitoring", name, labels(name), {"metrics": port}, annotations=scraped(port), headless=True
            )
        )
    return made


def _ceph() -> list[Object]:
    labels = {"app": "rook-ceph-mgr"}
    pod = {
        "containers": [container("mgr", "quay.io/ceph/ceph:v19.2.3", port=9283, memory="512Mi")],
        "nodeSelector": INFRA,
    }
    storage_class = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "rbd-datasets"},
        "provisioner": "rbd.csi.ceph.com",
        "reclaimPolicy": "Retain",
    }
    return [
        storage_class,
        workload("Deployment", "rook-ceph", "rook-ceph-mgr", labels, pod, replicas=1),
        service("rook-ceph", "rook-ceph-mgr", labels, {"http-metrics": 9283}, annotations=scraped(9283)),
    ]


def dataset(where: str, name: str) -> list[Object]:
    """A data set on an RBD image: a volume and the claim that is bound to it, for many readers."""
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
    """All objects of one training but its namespace: worker Job, parameter servers, one headless Service for each role."""
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
            # An eviction is no failure of the training: the rank is made again elsewhere.
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


def path_of(made: Object) -> str:
    """The collection that an object is created in."""
    group = made["apiVersion"]
    root = f"/api/{group}" if "/" not in group else f"/apis/{group}"
    kind = made["kind"]
    plural = {"StorageClass": "storageclasses"}.get(kind, kind.lower() + "s")
    where = made["metadata"].get("namespace")
    return f"{root}/namespaces/{where}/{plural}" if where else f"{root}/{plural}"
