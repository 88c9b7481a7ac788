"""The objects of a large cluster, in pages as an API server lists them: what benchmarks.large_cluster serves. Pure."""

from collections.abc import Iterator
from typing import Any

import msgspec

from benchmarks import custom_trainings, pods
from benchmarks.custom_trainings import in_its_kind
from benchmarks.pod_contents import MOMENT

PAGE = 500
GPUS, RANKS, PODS_ON_NODE, EVENTS_ON_NODE = 8, 8, 10, 2
DAEMONS = ("calico-node", "kube-proxy", "node-exporter", "dcgm-exporter")
WAITING = 9_999  # the number of a training that has no nodes
PATHS_OF_KINDS = {
    "/api/v1/nodes": "node",
    "/api/v1/pods": "pod",
    "/api/v1/namespaces": "namespace",
    "/apis/apps/v1/deployments": "deployment",
    "/apis/apps/v1/replicasets": "replicaset",
    "/apis/batch/v1/jobs": "job",
    "/api/v1/persistentvolumeclaims": "claim",
    "/api/v1/persistentvolumes": "volume",
    "/api/v1/services": "service",
    "/api/v1/events": "event",
    **custom_trainings.PATHS_OF_KINDS,
}
PATHS = tuple(PATHS_OF_KINDS)


def objects(kind: str, nodes: int) -> Iterator[dict[str, Any]]:
    """Yield the objects of a kind."""
    match kind:
        case "node":
            yield from (_node(number) for number in range(nodes))
        case "pod":
            yield from (pod_of(number) for number in range(nodes * PODS_ON_NODE))
            yield from (_waiting(number) for number in range(RANKS))
        case "claim":
            yield from (_claim(*one) for one in _claims(nodes))
        case "volume":
            yield from (_volume(*one) for one in _claims(nodes))
        case "service":
            yield from ({"metadata": _meta(f"web-{n}", "services")} for n in range(_deployments(nodes)))
        case "event":
            yield from (_event(number) for number in range(nodes * EVENTS_ON_NODE))
        case "namespace":
            yield from ({"metadata": _meta(f"team-{number:02d}")} for number in range(20))
            yield from ({"metadata": _meta(name)} for name in ("services", "monitoring"))
        case "deployment":
            yield from ({"metadata": _meta(f"web-{n}", "services")} for n in range(_deployments(nodes)))
        case "replicaset":
            for number in range(_deployments(nodes)):
                owner = _owner("Deployment", f"web-{number}")
                yield {"metadata": _meta(f"web-{number}-7b6f", "services", ownerReferences=[owner])}
        case "job":
            yield _job(WAITING) | {"status": {"ready": 0, "startTime": MOMENT.format(1)}}
        case "pytorchjob" | "tfjob" | "vcjob":
            for one in custom_trainings.objects(kind, nodes):
                meta = one["metadata"]
                yield {**one, "metadata": _meta(meta["name"], meta["namespace"])}
        case _:
            raise ValueError(kind)


def lists(kind: str, nodes: int) -> dict[str, bytes]:
    """Return the pages of a list by continue token; the first page has the empty one."""
    found, items, start = {}, list(objects(kind, nodes)), 0
    while start == 0 or start < len(items):
        end = start + PAGE
        meta = {"resourceVersion": "900000", **({"continue": str(end)} if end < len(items) else {})}
        listed = {"kind": f"{kind}List", "apiVersion": "v1", "metadata": meta, "items": items[start:end]}
        found[str(start) if start else ""] = msgspec.json.encode(listed)
        start = end
    return found


def _meta(name: str, namespace: str = "", **more: Any) -> dict[str, Any]:
    place = {"namespace": namespace} if namespace else {}
    version = {"uid": f"uid-{namespace}-{name}", "resourceVersion": "1000"}
    return {"name": name, **place, **version, "creationTimestamp": MOMENT.format(0), **more}


def _owner(kind: str, name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}


def _deployments(nodes: int) -> int:
    return nodes * (PODS_ON_NODE - len(DAEMONS) - 2) // 20


def _node(number: int) -> dict[str, Any]:
    amounts = {"cpu": "192", "memory": "2Ti", "pods": "110", "nvidia.com/gpu": str(GPUS)}
    types = ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
    address = f"10.{number // 250}.{number % 250}.1"
    return {
        "metadata": _meta(host_name(number), labels={"topology.kubernetes.io/rack": f"rack-{number // 8}"}),
        "spec": {"podCIDR": f"10.244.{number % 250}.0/24"},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": one, "status": "True" if one == "Ready" else "False"} for one in types],
            "addresses": [{"type": "InternalIP", "address": address}],
            "images": [{"names": [f"registry.example.org/i{n}@sha256:{n:064x}"]} for n in range(30)],
        },
    }


def host_name(number: int) -> str:
    return f"gpu-{number:04d}"


def pod_of(number: int) -> dict[str, Any]:
    node, slot = divmod(number, PODS_ON_NODE)
    one = pods.pod(node)  # a rank; RANKS nodes in a row belong to one training
    one["spec"]["nodeName"] = host_name(node)
    one["status"]["podIP"] = f"10.{100 + node // 250}.{node % 250}.{slot + 2}"
    if not slot:
        return in_its_kind(one, node // RANKS, node % RANKS, is_server=False)
    one["metadata"] |= {"labels": {}, "annotations": {}, "uid": f"uid-{number}"}
    for container in one["spec"]["containers"]:
        container["resources"] = {"requests": {"cpu": "100m", "memory": "128Mi"}}
    for volume in one["spec"]["volumes"]:
        if volume.pop("persistentVolumeClaim", None):
            volume["emptyDir"] = {}
    if slot == PODS_ON_NODE - 1:
        return in_its_kind(one, node // RANKS, node % RANKS, is_server=True)
    if slot <= len(DAEMONS):
        daemon = DAEMONS[slot - 1]
        owner, name, namespace = _owner("DaemonSet", daemon), f"{daemon}-{node}", "kube-system"
        if daemon == "node-exporter":
            one["spec"]["volumes"][0] = {"name": "images", "hostPath": {"path": "/"}}
            for container in (*one["spec"]["containers"], *one["spec"]["initContainers"]):
                for mount in container["volumeMounts"]:
                    mount["mountPropagation"] = "HostToContainer"
    else:
        replica_set = f"web-{node * 4 // 20}-7b6f"
        owner, name, namespace = (
            _owner("ReplicaSet", replica_set),
            f"{replica_set}-{number}",
            "services",
        )
    one["metadata"] |= {"name": name, "namespace": namespace, "ownerReferences": [owner]}
    return one


def _waiting(rank: int) -> dict[str, Any]:
    """Return a rank that has no node."""
    one = pods.pod(WAITING * RANKS + rank)
    unscheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    one["status"] = {"phase": "Pending", "conditions": [unscheduled]}
    one["spec"].pop("nodeName", None)
    return one


def _claims(nodes: int) -> Iterator[tuple[str, str]]:
    """Yield the namespace and the name of each claim that ranks mount."""
    found = (pods.pod(node) for node in range(nodes))
    yield from dict.fromkeys(
        (one["metadata"]["namespace"], volume["persistentVolumeClaim"]["claimName"])
        for one in found
        for volume in one["spec"]["volumes"]
        if "persistentVolumeClaim" in volume
    )


def _claim(namespace: str, name: str) -> dict[str, Any]:
    spec = {"volumeName": f"pvc-{namespace}-{name}", "accessModes": [_mode(name)]}
    return {"metadata": _meta(name, namespace), "spec": spec, "status": {"phase": "Bound"}}


def _volume(namespace: str, name: str) -> dict[str, Any]:
    attributes = {"pool": "rbd", "imageName": f"csi-vol-{namespace}-{name}"}
    source = {"driver": "rook-ceph.rbd.csi.ceph.com", "fsType": "ext4", "volumeAttributes": attributes}
    handle = f"0001-0009-rook-ceph-{namespace}-{name}"
    return {
        "metadata": _meta(f"pvc-{namespace}-{name}"),
        "spec": {
            "accessModes": [_mode(name)],
            "volumeMode": "Filesystem",
            "claimRef": {"namespace": namespace, "name": name},
            "csi": {**source, "volumeHandle": handle},
        },
        "status": {"phase": "Bound"},
    }


def _mode(claim: str) -> str:
    return "ReadOnlyMany" if claim.startswith("images") else "ReadWriteMany"


def _event(number: int) -> dict[str, Any]:
    node = number // EVENTS_ON_NODE
    return {
        "metadata": _meta(f"{host_name(node)}.{number:x}", "default"),
        "involvedObject": {"kind": "Node", "name": host_name(node)},
        "reason": "FreeDiskSpaceFailed",
        "message": "Failed to garbage collect required amount of images",
        "source": {"component": "kubelet", "host": host_name(node)},
        "count": 3,
        "firstTimestamp": MOMENT.format(0),
        "lastTimestamp": MOMENT.format(9),
    }


def _job(number: int) -> dict[str, Any]:
    amounts = {"nvidia.com/gpu": str(GPUS)}
    template = {"spec": {"containers": [{"name": "worker", "resources": {"limits": amounts}}]}}
    return {
        "metadata": _meta(f"train-{number:04d}-worker", f"team-{number % 20:02d}"),
        "spec": {"parallelism": RANKS, "completions": RANKS, "template": template},
        "status": {"ready": RANKS, "startTime": MOMENT.format(1)},
    }
