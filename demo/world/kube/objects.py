"""Builders for common Kubernetes objects."""

from __future__ import annotations

from collections.abc import Mapping

from demo.world.kube.api import Object


def scraped(port: int, path: str = "/metrics") -> dict[str, str]:
    """The annotations by which Prometheus discovers a Service."""
    return {"prometheus.io/scrape": "true", "prometheus.io/path": path, "prometheus.io/port": str(port)}


def namespace(
    name: str, labels: Mapping[str, str] | None = None, annotations: Mapping[str, str] | None = None
) -> Object:
    meta = {"name": name, "labels": dict(labels or {}), "annotations": dict(annotations or {})}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}


def container(
    name: str, image: str, *, port: int | None = None, cpu: str = "50m", memory: str = "128Mi"
) -> Object:
    obj: Object = {"name": name, "image": image, "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    if port is not None:
        obj["ports"] = [{"name": "metrics", "containerPort": port, "protocol": "TCP"}]
    return obj


def workload(
    kind: str, where: str, name: str, labels: Mapping[str, str], pod: Object, *, replicas: int | None = None
) -> Object:
    """Return a Deployment or DaemonSet of these pods."""
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


def path_of(obj: Object) -> str:
    """Return the path of the collection that an object is created in."""
    group = obj["apiVersion"]
    root = f"/api/{group}" if "/" not in group else f"/apis/{group}"
    kind = obj["kind"]
    plural = {"StorageClass": "storageclasses"}.get(kind, kind.lower() + "s")
    where = obj["metadata"].get("namespace")
    return f"{root}/namespaces/{where}/{plural}" if where else f"{root}/{plural}"
