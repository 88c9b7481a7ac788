"""Metrics of kube-state-metrics for pods and their containers."""

from __future__ import annotations

from collections.abc import Iterable

from demo.world.exporters.quantities import (
    ALLOWED,
    Object,
    quantity,
    resource_labels,
    sanitized,
    stamp,
)
from demo.world.exporters.text import Family, counter, gauge

PHASES = ("Pending", "Succeeded", "Failed", "Unknown", "Running")


def pod_families(pods: Iterable[Object]) -> list[Family]:
    info = gauge("kube_pod_info", "Information about pod.")
    labels = gauge("kube_pod_labels", "Kubernetes labels converted to Prometheus labels.")
    owner = gauge("kube_pod_owner", "Information about the Pod's owner.")
    phase = gauge("kube_pod_status_phase", "The pods current phase.")
    ready = gauge("kube_pod_status_ready", "Describes whether the pod is ready to serve requests.")
    reason = gauge("kube_pod_status_reason", "The pod status reasons")
    created = gauge("kube_pod_created", "Unix creation timestamp")
    begun = gauge("kube_pod_start_time", "Start time in unix timestamp for a pod.")
    leaving = gauge("kube_pod_deletion_timestamp", "Unix deletion timestamp")
    requests = gauge(
        "kube_pod_container_resource_requests", "The number of requested request resource by a container."
    )
    limits = gauge(
        "kube_pod_container_resource_limits", "The number of requested limit resource by a container."
    )
    restarts = counter(
        "kube_pod_container_status_restarts_total", "The number of container restarts per container."
    )
    running = gauge(
        "kube_pod_container_status_running", "Describes whether the container is currently in running state."
    )
    waiting = gauge(
        "kube_pod_container_status_waiting_reason",
        "Describes the reason the container is currently in waiting state.",
    )
    ended = gauge(
        "kube_pod_container_status_terminated_reason",
        "Describes the reason the container is currently in terminated state.",
    )
    last = gauge(
        "kube_pod_container_status_last_terminated_reason",
        "Describes the last reason the container was in terminated state.",
    )
    code = gauge(
        "kube_pod_container_status_last_terminated_exitcode",
        "Describes the exit code for the last container in terminated state.",
    )
    for obj in pods:
        meta, spec, status = obj["metadata"], obj["spec"], obj.get("status") or {}
        pod = {"namespace": meta["namespace"], "pod": meta["name"], "uid": meta["uid"]}
        holder: Object = next(iter(meta.get("ownerReferences") or []), {})
        node = spec.get("nodeName", "")
        info.put(
            pod
            | {
                "host_ip": status.get("hostIP", ""),
                "pod_ip": status.get("podIP", ""),
                "node": node,
                "created_by_kind": holder.get("kind", ""),
                "created_by_name": holder.get("name", ""),
                "priority_class": spec.get("priorityClassName", ""),
                "host_network": str(bool(spec.get("hostNetwork"))).lower(),
            },
            1,
        )
        labels.put(
            pod | {f"label_{sanitized(k)}": v for k, v in (meta.get("labels") or {}).items() if k in ALLOWED},
            1,
        )
        if holder:
            owner.put(
                pod
                | {"owner_kind": holder["kind"], "owner_name": holder["name"], "owner_is_controller": "true"},
                1,
            )
        for one in PHASES:
            phase.put(pod | {"phase": one}, float(status.get("phase", "Pending") == one))
        is_ready = any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions") or [])
        for state in ("true", "false"):
            ready.put(pod | {"condition": state}, float((state == "true") == is_ready))
        if status.get("reason"):
            reason.put(pod | {"reason": status["reason"]}, 1)
        created.put(pod, stamp(meta.get("creationTimestamp")))
        if status.get("startTime"):
            begun.put(pod, stamp(status["startTime"]))
        if meta.get("deletionTimestamp"):
            leaving.put(pod, stamp(meta["deletionTimestamp"]))
        for one in spec["containers"]:
            amounts = one.get("resources") or {}
            for family, kind in ((requests, "requests"), (limits, "limits")):
                for resource, amount in (amounts.get(kind) or {}).items():
                    family.put(
                        pod | {"container": one["name"], "node": node} | resource_labels(resource),
                        quantity(amount),
                    )
        for one in status.get("containerStatuses") or []:
            box = pod | {"container": one["name"]}
            restarts.put(box, one.get("restartCount", 0))
            now = one.get("state") or {}
            running.put(box, float("running" in now))
            if "waiting" in now:
                waiting.put(box | {"reason": now["waiting"].get("reason", "")}, 1)
            if "terminated" in now:
                ended.put(box | {"reason": now["terminated"].get("reason", "")}, 1)
            before = (one.get("lastState") or {}).get("terminated")
            if before:
                last.put(box | {"reason": before.get("reason", "")}, 1)
                code.put(box, before.get("exitCode", 0))
    return [
        info,
        labels,
        owner,
        phase,
        ready,
        reason,
        created,
        begun,
        leaving,
        requests,
        limits,
        restarts,
        running,
        waiting,
        ended,
        last,
        code,
    ]
