"""Statuses that kubelets write: of nodes, pods and leases."""

from __future__ import annotations

from datetime import datetime

from demo.world.kube.api import Object
from demo.world.layout import KERNEL, KUBELET
from demo.world.physics.hosts import DISK_PRESSURE
from demo.world.state import Body, Host

MEMORY_PRESSURE = 0.02  # share of memory available


def moment(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def micro(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def lease(node: str, now: datetime) -> Object:
    """The Lease that a kubelet renews."""
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": node, "namespace": "kube-node-lease"},
        "spec": {"holderIdentity": node, "leaseDurationSeconds": 40, "renewTime": micro(now)},
    }


def pressures(host: Host) -> dict[str, tuple[bool, str, str]]:
    """Condition type -> (holds, reason, message)."""
    disk = host.disk_share_used > DISK_PRESSURE
    memory = host.memory_available < MEMORY_PRESSURE * host.spec.memory
    return {
        "MemoryPressure": (
            (True, "KubeletHasInsufficientMemory", "kubelet has insufficient memory available")
            if memory
            else (False, "KubeletHasSufficientMemory", "kubelet has sufficient memory available")
        ),
        "DiskPressure": (
            (True, "KubeletHasDiskPressure", "kubelet has disk pressure")
            if disk
            else (False, "KubeletHasNoDiskPressure", "kubelet has no disk pressure")
        ),
        "PIDPressure": (False, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        "Ready": (True, "KubeletReady", "kubelet is posting ready status"),
    }


def healthy_gpus(host: Host) -> int:
    """The number of GPUs that the device plugin advertises; failed GPUs are unhealthy."""
    return sum(gpu.is_usable for gpu in host.gpus)


def node_status(host: Host, now: datetime, since: dict[str, datetime]) -> Object:
    """A node's status; `since` is when each condition last changed."""
    capacity = {
        "cpu": str(host.spec.cpus),
        "memory": f"{host.spec.memory // 1024}Ki",
        "ephemeral-storage": f"{host.spec.disk // 1024}Ki",
        "hugepages-2Mi": "0",
        "pods": "110",
    }
    allocatable = dict(capacity)
    if host.spec.gpus:
        capacity["nvidia.com/gpu"] = str(len(host.gpus))
        allocatable["nvidia.com/gpu"] = str(healthy_gpus(host))
    conditions = [
        {
            "type": kind,
            "status": "True" if holds else "False",
            "reason": reason,
            "message": message,
            "lastHeartbeatTime": moment(now),
            "lastTransitionTime": moment(since.get(kind, now)),
        }
        for kind, (holds, reason, message) in pressures(host).items()
    ]
    return {
        "status": {
            "capacity": capacity,
            "allocatable": allocatable,
            "addresses": [
                {"type": "InternalIP", "address": host.spec.address},
                {"type": "Hostname", "address": host.name},
            ],
            "conditions": conditions,
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": {
                "kernelVersion": KERNEL,
                "kubeletVersion": KUBELET,
                "kubeProxyVersion": "",
                "operatingSystem": "linux",
                "architecture": "amd64",
                "osImage": "Ubuntu 24.04.2 LTS",
                "containerRuntimeVersion": "containerd://2.1.3",
                "bootID": f"boot-{host.name}-{int(host.booted.timestamp())}",
                "machineID": f"machine-{host.name}",
                "systemUUID": f"system-{host.name}",
            },
        }
    }


def pod_running(
    pod: Object, body: Body, host: Host, *, restarts: int = 0, last: Object | None = None
) -> Object:
    """The status of a pod with all containers running."""
    at = moment(body.started or host.booted)
    return {
        "status": {
            "phase": "Running",
            "hostIP": host.spec.address,
            "hostIPs": [{"ip": host.spec.address}],
            "podIP": body.address,
            "podIPs": [{"ip": body.address}],
            "startTime": at,
            "conditions": _pod_conditions(at, ready=True),
            "containerStatuses": [
                _container(
                    spec, body, restarts=restarts, state={"running": {"startedAt": at}}, ready=True, last=last
                )
                for spec in pod["spec"]["containers"]
            ],
        }
    }


def pod_ended(pod: Object, body: Body, now: datetime, *, restarts: int = 0) -> Object:
    """The status of a pod whose process ended without a restart."""
    good = body.exit == 0
    state = {"terminated": termination(body, now)}
    return {
        "status": {
            "phase": "Succeeded" if good else "Failed",
            "conditions": _pod_conditions(
                moment(now), ready=False, reason="PodCompleted" if good else "PodFailed"
            ),
            "containerStatuses": [
                _container(spec, body, restarts=restarts, state=state, ready=False)
                for spec in pod["spec"]["containers"]
            ],
        }
    }


def pod_refused(reason: str, message: str, now: datetime) -> Object:
    """The status of a pod that the kubelet does not admit."""
    return {"status": {"phase": "Failed", "reason": reason, "message": message, "startTime": moment(now)}}


def termination(body: Body, now: datetime) -> Object:
    return {
        "exitCode": body.exit or 0,
        "reason": body.exit_reason or "Completed",
        "startedAt": moment(body.started or now),
        "finishedAt": moment(now),
        "containerID": f"containerd://{body.uid.replace('-', '')}",
    }


def _pod_conditions(at: str, *, ready: bool, reason: str = "") -> list[Object]:
    conditions: list[Object] = [
        {"type": kind, "status": "True", "lastTransitionTime": at}
        for kind in ("PodReadyToStartContainers", "Initialized", "PodScheduled")
    ]
    for kind in ("ContainersReady", "Ready"):
        condition = {"type": kind, "status": "True" if ready else "False", "lastTransitionTime": at}
        conditions.append(condition | ({"reason": reason} if reason else {}))
    return conditions


def _container(
    spec: Object, body: Body, *, restarts: int, state: Object, ready: bool, last: Object | None = None
) -> Object:
    resources = spec.get("resources") or {}
    status: Object = {
        "name": spec["name"],
        "image": spec["image"],
        "imageID": f"{spec['image'].rsplit(':', 1)[0]}@sha256:{abs(hash(spec['image'])) % 16**12:064x}",
        "containerID": f"containerd://{body.uid.replace('-', '')}",
        "ready": ready,
        "started": ready,
        "restartCount": restarts,
        "state": state,
    }
    if last is not None:
        status["lastState"] = {"terminated": last}
    if resources:
        status["resources"] = resources
    if resources.get("requests"):
        status["allocatedResources"] = resources["requests"]
    return status
