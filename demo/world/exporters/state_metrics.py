"""This file is kube-state-metrics: the API's objects as metrics, with its own names and allow-listed labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from demo.world.exporters.text import Family, counter, gauge

Object = Mapping[str, Any]
Listing = Callable[[str], Iterable[Object]]  # kind -> its objects

ALLOWED = ("team", "owner", "training", "role", "k8s-app", "app")  # --metric-labels-allowlist of this cluster
PHASES = ("Pending", "Succeeded", "Failed", "Unknown", "Running")
UNITS = {
    "cpu": "core",
    "memory": "byte",
    "ephemeral-storage": "byte",
    "pods": "integer",
    "hugepages-2Mi": "byte",
}
_SCALE = {
    "m": 1e-3,
    "": 1.0,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
    "Pi": 2.0**50,
}


def quantity(text: str) -> float:
    """A Kubernetes quantity as a number."""
    found = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", text)
    return float(found[1]) * _SCALE.get(found[2], 1.0) if found else 0.0


def sanitized(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_]", "_", name)


def stamp(text: str | None) -> float:
    return 0.0 if not text else datetime.fromisoformat(text).timestamp()


def families(listing: Listing) -> list[Family]:
    """What kube-state-metrics answers for the objects that `listing` gives."""
    return [
        *_nodes(listing("Node")),
        *_pods(listing("Pod")),
        *_services(listing("Service")),
        *_deployments(listing("Deployment")),
        *_daemonsets(listing("DaemonSet")),
        *_jobs(listing("Job")),
        *_others(listing),
    ]


def _resource(name: str) -> dict[str, str]:
    return {"resource": sanitized(name), "unit": UNITS.get(name, "integer")}


def _nodes(nodes: Iterable[Object]) -> list[Family]:
    known = gauge("kube_node_info", "Information about a cluster node.")
    created = gauge("kube_node_created", "Unix creation timestamp")
    cordoned = gauge("kube_node_spec_unschedulable", "Whether a node can schedule new pods.")
    taints = gauge("kube_node_spec_taint", "The taint of a cluster node.")
    condition = gauge("kube_node_status_condition", "The condition of a cluster node.")
    capacity = gauge("kube_node_status_capacity", "The total amount of resources available for a node.")
    allocatable = gauge("kube_node_status_allocatable", "The amount of resources allocatable for pods.")
    labels = gauge("kube_node_labels", "Kubernetes labels converted to Prometheus labels.")
    for found in nodes:
        name, spec, status = found["metadata"]["name"], found.get("spec") or {}, found.get("status") or {}
        node = {"node": name}
        facts = status.get("nodeInfo") or {}
        address = next((a["address"] for a in status.get("addresses") or [] if a["type"] == "InternalIP"), "")
        known.put(
            node
            | {
                "kernel_version": facts.get("kernelVersion", ""),
                "os_image": facts.get("osImage", ""),
                "container_runtime_version": facts.get("containerRuntimeVersion", ""),
                "kubelet_version": facts.get("kubeletVersion", ""),
                "kubeproxy_version": "deprecated",
                "provider_id": "",
                "pod_cidr": "",
                "system_uuid": facts.get("systemUUID", ""),
                "internal_ip": address,
            },
            1,
        )
        created.put(node, stamp(found["metadata"].get("creationTimestamp")))
        cordoned.put(node, float(bool(spec.get("unschedulable"))))
        for taint in spec.get("taints") or []:
            taints.put(
                node | {"key": taint["key"], "value": taint.get("value", ""), "effect": taint["effect"]}, 1
            )
        for one in status.get("conditions") or []:
            for state in ("true", "false", "unknown"):
                condition.put(
                    node | {"condition": one["type"], "status": state}, float(one["status"].lower() == state)
                )
        for family, amounts in ((capacity, status.get("capacity")), (allocatable, status.get("allocatable"))):
            for resource, amount in (amounts or {}).items():
                family.put(node | _resource(resource), quantity(amount))
        shown = {
            f"label_{sanitized(k)}": v
            for k, v in (found["metadata"].get("labels") or {}).items()
            if k in ("pool", "rack")
        }
        labels.put(node | shown, 1)
    return [known, created, cordoned, taints, condition, capacity, allocatable, labels]


def _pods(pods: Iterable[Object]) -> list[Family]:
    known = gauge("kube_pod_info", "Information about pod.")
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
    for found in pods:
        meta, spec, status = found["metadata"], found["spec"], found.get("status") or {}
        pod = {"namespace": meta["namespace"], "pod": meta["name"], "uid": meta["uid"]}
        holder: Object = next(iter(meta.get("ownerReferences") or []), {})
        node = spec.get("nodeName", "")
        known.put(
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
                        pod | {"container": one["name"], "node": node} | _resource(resource), quantity(amount)
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
        known,
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


def _services(services: Iterable[Object]) -> list[Family]:
    known = gauge("kube_service_info", "Information about service.")
    for found in services:
        meta, spec = found["metadata"], found["spec"]
        known.put(
            {
                "namespace": meta["namespace"],
                "service": meta["name"],
                "uid": meta["uid"],
                "cluster_ip": spec.get("clusterIP", ""),
                "external_name": "",
                "load_balancer_ip": "",
            },
            1,
        )
    return [known]


def _counts(found: Object, kind: str, rows: Mapping[str, tuple[Family, Any]]) -> None:
    labels = {"namespace": found["metadata"]["namespace"], kind: found["metadata"]["name"]}
    for family, value in rows.values():
        family.put(labels, float(value or 0))


def _deployments(deployments: Iterable[Object]) -> list[Family]:
    names = (
        "spec_replicas",
        "status_replicas",
        "status_replicas_available",
        "status_replicas_ready",
        "status_replicas_unavailable",
        "status_replicas_updated",
    )
    made = {name: gauge(f"kube_deployment_{name}", f"Deployment {name.replace('_', ' ')}.") for name in names}
    for found in deployments:
        spec, status = found["spec"], found.get("status") or {}
        values = {
            "spec_replicas": spec.get("replicas", 1),
            "status_replicas": status.get("replicas"),
            "status_replicas_available": status.get("availableReplicas"),
            "status_replicas_ready": status.get("readyReplicas"),
            "status_replicas_unavailable": status.get("unavailableReplicas"),
            "status_replicas_updated": status.get("updatedReplicas"),
        }
        _counts(found, "deployment", {name: (made[name], values[name]) for name in names})
    return list(made.values())


def _daemonsets(daemonsets: Iterable[Object]) -> list[Family]:
    rows = {
        "desired_number_scheduled": "desiredNumberScheduled",
        "current_number_scheduled": "currentNumberScheduled",
        "number_ready": "numberReady",
        "number_available": "numberAvailable",
        "number_unavailable": "numberUnavailable",
    }
    made = {
        name: gauge(f"kube_daemonset_status_{name}", f"DaemonSet {name.replace('_', ' ')}.") for name in rows
    }
    for found in daemonsets:
        status = found.get("status") or {}
        _counts(found, "daemonset", {name: (made[name], status.get(key)) for name, key in rows.items()})
    return list(made.values())


def _jobs(jobs: Iterable[Object]) -> list[Family]:
    active = gauge("kube_job_status_active", "The number of actively running pods.")
    succeeded = gauge("kube_job_status_succeeded", "The number of pods which reached Phase Succeeded.")
    failed = gauge(
        "kube_job_status_failed", "The number of pods which reached Phase Failed and the reason for failure."
    )
    begun = gauge(
        "kube_job_status_start_time",
        "StartTime represents time when the job was acknowledged by the Job Manager.",
    )
    wanted = gauge(
        "kube_job_spec_completions",
        "The desired number of successfully finished pods the job should be run with.",
    )
    broke = gauge("kube_job_failed", "The job has failed its execution.")
    done = gauge("kube_job_complete", "The job has completed its execution.")
    known = gauge("kube_job_info", "Information about job.")
    for found in jobs:
        meta, status = found["metadata"], found.get("status") or {}
        job = {"namespace": meta["namespace"], "job_name": meta["name"]}
        known.put(job, 1)
        active.put(job, float(status.get("active", 0)))
        succeeded.put(job, float(status.get("succeeded", 0)))
        wanted.put(job, float(found["spec"].get("completions") or 1))
        if status.get("startTime"):
            begun.put(job, stamp(status["startTime"]))
        held = {c["type"]: c for c in status.get("conditions") or [] if c["status"] == "True"}
        why = {"reason": held["Failed"].get("reason", "")} if "Failed" in held else {}
        failed.put(job | why, float(status.get("failed", 0)))
        for family, kind in ((broke, "Failed"), (done, "Complete")):
            if kind in held:
                family.put(job | {"condition": "true"}, 1)
    return [known, active, succeeded, failed, begun, wanted, broke, done]


def _others(listing: Listing) -> list[Family]:
    namespaces = gauge("kube_namespace_created", "Unix creation timestamp")
    for found in listing("Namespace"):
        namespaces.add(stamp(found["metadata"].get("creationTimestamp")), namespace=found["metadata"]["name"])
    claims = gauge(
        "kube_persistentvolumeclaim_status_phase", "The phase the persistent volume claim is currently in."
    )
    facts = gauge("kube_persistentvolumeclaim_info", "Information about persistent volume claim.")
    for found in listing("PersistentVolumeClaim"):
        meta, spec = found["metadata"], found["spec"]
        claim = {"namespace": meta["namespace"], "persistentvolumeclaim": meta["name"]}
        for phase in ("Lost", "Bound", "Pending"):
            claims.put(
                claim | {"phase": phase}, float((found.get("status") or {}).get("phase", "Pending") == phase)
            )
        facts.put(
            claim
            | {"storageclass": spec.get("storageClassName", ""), "volumename": spec.get("volumeName", "")},
            1,
        )
    return [namespaces, claims, facts]
