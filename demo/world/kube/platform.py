"""The platform's objects: nodes, DNS and its autoscaler, exporters, Ceph's manager."""

from __future__ import annotations

import json

from demo.world.kube.api import Object
from demo.world.kube.objects import container, scraped, service, workload
from demo.world.layout import CUDA, DRIVER, GPU_MEMORY_MIB, PRODUCT, Layout, NodeSpec

DNS_SPEC = {"nodesPerReplica": 10, "min": 1, "max": 50, "preventSinglePointFailure": True}


EVERYWHERE = [{"operator": "Exists"}]


INFRA = {"pool": "infra"}


def node_labels(spec: NodeSpec) -> dict[str, str]:
    labels = {
        "kubernetes.io/hostname": spec.name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/zone": "dc1",
        "topology.kubernetes.io/rack": spec.rack,
        "rack": spec.rack,
        "pool": spec.pool,
        "network.topology.nvidia.com/leaf": f"leaf-{spec.row}",
        "yardmaster.io/cooling-zone": f"cooling-{spec.row}",
        "yardmaster.io/power-zone": f"power-{spec.row}",
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


def platform(layout: Layout) -> list[Object]:
    """Return the objects of DNS and its autoscaler, the exporters and Ceph's manager."""
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
    objs: list[Object] = []
    for kind, name, port, pod in (
        ("DaemonSet", "node-exporter", 9100, node_pod),
        ("DaemonSet", "dcgm-exporter", 9400, gpu_pod),
        ("Deployment", "kube-state-metrics", 8080, state_pod),
    ):
        replicas = 1 if kind == "Deployment" else None
        objs.append(workload(kind, "monitoring", name, labels(name), pod, replicas=replicas))
        objs.append(
            service(
                "monitoring", name, labels(name), {"metrics": port}, annotations=scraped(port), headless=True
            )
        )
    return objs


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
