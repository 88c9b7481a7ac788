"""Metrics of kube-state-metrics: API objects with its metric names and allow-listed labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from demo.world.exporters.quantities import (
    Listing,
    Object,
    quantity,
    resource_labels,
    sanitized,
    stamp,
)
from demo.world.exporters.state_pods import pod_families
from demo.world.exporters.text import Family, gauge


def families(listing: Listing) -> list[Family]:
    """The metrics for the objects that `listing` returns."""
    return [
        *_nodes(listing("Node")),
        *pod_families(listing("Pod")),
        *_services(listing("Service")),
        *_deployments(listing("Deployment")),
        *_daemonsets(listing("DaemonSet")),
        *_jobs(listing("Job")),
        *_others(listing),
    ]


def _nodes(nodes: Iterable[Object]) -> list[Family]:
    info = gauge("kube_node_info", "Information about a cluster node.")
    created = gauge("kube_node_created", "Unix creation timestamp")
    cordoned = gauge("kube_node_spec_unschedulable", "Whether a node can schedule new pods.")
    taints = gauge("kube_node_spec_taint", "The taint of a cluster node.")
    condition = gauge("kube_node_status_condition", "The condition of a cluster node.")
    capacity = gauge("kube_node_status_capacity", "The total amount of resources available for a node.")
    allocatable = gauge("kube_node_status_allocatable", "The amount of resources allocatable for pods.")
    labels = gauge("kube_node_labels", "Kubernetes labels converted to Prometheus labels.")
    for obj in nodes:
        name, spec, status = obj["metadata"]["name"], obj.get("spec") or {}, obj.get("status") or {}
        node = {"node": name}
        facts = status.get("nodeInfo") or {}
        address = next((a["address"] for a in status.get("addresses") or [] if a["type"] == "InternalIP"), "")
        info.put(
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
        created.put(node, stamp(obj["metadata"].get("creationTimestamp")))
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
                family.put(node | resource_labels(resource), quantity(amount))
        shown = {
            f"label_{sanitized(k)}": v
            for k, v in (obj["metadata"].get("labels") or {}).items()
            if k in ("pool", "rack")
        }
        labels.put(node | shown, 1)
    return [info, created, cordoned, taints, condition, capacity, allocatable, labels]


def _services(services: Iterable[Object]) -> list[Family]:
    info = gauge("kube_service_info", "Information about service.")
    for obj in services:
        meta, spec = obj["metadata"], obj["spec"]
        info.put(
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
    return [info]


def _counts(obj: Object, kind: str, rows: Mapping[str, tuple[Family, Any]]) -> None:
    labels = {"namespace": obj["metadata"]["namespace"], kind: obj["metadata"]["name"]}
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
    gauges = {
        name: gauge(f"kube_deployment_{name}", f"Deployment {name.replace('_', ' ')}.") for name in names
    }
    for obj in deployments:
        spec, status = obj["spec"], obj.get("status") or {}
        values = {
            "spec_replicas": spec.get("replicas", 1),
            "status_replicas": status.get("replicas"),
            "status_replicas_available": status.get("availableReplicas"),
            "status_replicas_ready": status.get("readyReplicas"),
            "status_replicas_unavailable": status.get("unavailableReplicas"),
            "status_replicas_updated": status.get("updatedReplicas"),
        }
        _counts(obj, "deployment", {name: (gauges[name], values[name]) for name in names})
    return list(gauges.values())


def _daemonsets(daemonsets: Iterable[Object]) -> list[Family]:
    rows = {
        "desired_number_scheduled": "desiredNumberScheduled",
        "current_number_scheduled": "currentNumberScheduled",
        "number_ready": "numberReady",
        "number_available": "numberAvailable",
        "number_unavailable": "numberUnavailable",
    }
    gauges = {
        name: gauge(f"kube_daemonset_status_{name}", f"DaemonSet {name.replace('_', ' ')}.") for name in rows
    }
    for obj in daemonsets:
        status = obj.get("status") or {}
        _counts(obj, "daemonset", {name: (gauges[name], status.get(key)) for name, key in rows.items()})
    return list(gauges.values())


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
    info = gauge("kube_job_info", "Information about job.")
    for obj in jobs:
        meta, status = obj["metadata"], obj.get("status") or {}
        job = {"namespace": meta["namespace"], "job_name": meta["name"]}
        info.put(job, 1)
        active.put(job, float(status.get("active", 0)))
        succeeded.put(job, float(status.get("succeeded", 0)))
        wanted.put(job, float(obj["spec"].get("completions") or 1))
        if status.get("startTime"):
            begun.put(job, stamp(status["startTime"]))
        conditions = {c["type"]: c for c in status.get("conditions") or [] if c["status"] == "True"}
        reason = {"reason": conditions["Failed"].get("reason", "")} if "Failed" in conditions else {}
        failed.put(job | reason, float(status.get("failed", 0)))
        for family, kind in ((broke, "Failed"), (done, "Complete")):
            if kind in conditions:
                family.put(job | {"condition": "true"}, 1)
    return [info, active, succeeded, failed, begun, wanted, broke, done]


def _others(listing: Listing) -> list[Family]:
    namespaces = gauge("kube_namespace_created", "Unix creation timestamp")
    for obj in listing("Namespace"):
        namespaces.add(stamp(obj["metadata"].get("creationTimestamp")), namespace=obj["metadata"]["name"])
    claims = gauge(
        "kube_persistentvolumeclaim_status_phase", "The phase the persistent volume claim is currently in."
    )
    facts = gauge("kube_persistentvolumeclaim_info", "Information about persistent volume claim.")
    for obj in listing("PersistentVolumeClaim"):
        meta, spec = obj["metadata"], obj["spec"]
        claim = {"namespace": meta["namespace"], "persistentvolumeclaim": meta["name"]}
        for phase in ("Lost", "Bound", "Pending"):
            claims.put(
                claim | {"phase": phase}, float((obj.get("status") or {}).get("phase", "Pending") == phase)
            )
        facts.put(
            claim
            | {"storageclass": spec.get("storageClassName", ""), "volumename": spec.get("volumeName", "")},
            1,
        )
    return [namespaces, claims, facts]
