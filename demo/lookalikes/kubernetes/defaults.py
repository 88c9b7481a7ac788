"""Default values, as the real server sets them on objects."""

import base64
import itertools
from collections.abc import Callable
from typing import Any

from demo.lookalikes.kubernetes.objects import Json, copy_of, dig, metadata

_addresses = itertools.count(2)


def filled(listing: str, tree: Json) -> Json:
    """Return a copy of the object with its defaults, or the object itself when its kind has none."""
    fill = _FILLERS.get(listing)
    if fill is None:
        return tree
    copy = copy_of(tree)
    fill(copy)
    return copy


def _defaults(tree: Json, **values: Any) -> None:
    for key, value in values.items():
        if tree.get(key) is None:
            tree[key] = value


def _pod_spec(spec: Json, *, restart: str = "Always") -> None:
    _defaults(
        spec,
        restartPolicy=restart,
        dnsPolicy="ClusterFirst",
        schedulerName="default-scheduler",
        securityContext={},
        terminationGracePeriodSeconds=30,
    )
    if spec.get("serviceAccountName"):
        _defaults(spec, serviceAccount=spec["serviceAccountName"])
    for container in [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]:
        if isinstance(container, dict):
            _container(container)


def _container(container: Json) -> None:
    image = str(container.get("image", ""))
    latest = ":" not in image.rpartition("/")[2] or image.endswith(":latest")
    _defaults(
        container,
        resources={},
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
        imagePullPolicy="Always" if latest else "IfNotPresent",
    )
    for port in container.get("ports") or ():
        _defaults(port, protocol="TCP")
    resources = container["resources"]
    if isinstance(resources, dict) and isinstance(resources.get("limits"), dict):
        resources["requests"] = {**resources["limits"], **(resources.get("requests") or {})}


def qos_class(spec: Json) -> str:
    """Return a pod's quality of service class."""
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    named = [(dig(c, "resources", "requests") or {}, dig(c, "resources", "limits") or {}) for c in containers]
    basic = ("cpu", "memory")
    if not any(part.get(name) for pair in named for part in pair for name in basic):
        return "BestEffort"
    is_guaranteed = all(
        limits.get(name) is not None and requests.get(name, limits[name]) == limits[name]
        for requests, limits in named
        for name in basic
    )
    return "Guaranteed" if is_guaranteed else "Burstable"


def _pod(tree: Json) -> None:
    spec = tree.get("spec")
    if not isinstance(spec, dict):
        return
    _pod_spec(spec)
    _defaults(spec, enableServiceLinks=True, preemptionPolicy="PreemptLowerPriority")
    tolerations = list(spec.get("tolerations") or ())
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
        is_tolerated = any(
            t.get("key") in (key, None) and t.get("effect") in ("NoExecute", None) for t in tolerations
        )
        if not is_tolerated:
            tolerations.append(
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            )
    spec["tolerations"] = tolerations


def _template(spec: Json, *, restart: str = "Always") -> None:
    inner = dig(spec, "template", "spec")
    if isinstance(inner, dict):
        _pod_spec(inner, restart=restart)


def _deployment(tree: Json) -> None:
    spec = tree.setdefault("spec", {})
    _defaults(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600, strategy={})
    _defaults(spec["strategy"], type="RollingUpdate")
    if spec["strategy"]["type"] == "RollingUpdate":
        _defaults(spec["strategy"], rollingUpdate={})
        _defaults(spec["strategy"]["rollingUpdate"], maxUnavailable="25%", maxSurge="25%")
    _template(spec)


def _replicaset(tree: Json) -> None:
    spec = tree.setdefault("spec", {})
    _defaults(spec, replicas=1)
    _template(spec)


def _statefulset(tree: Json) -> None:
    spec = tree.setdefault("spec", {})
    _defaults(
        spec, replicas=1, revisionHistoryLimit=10, podManagementPolicy="OrderedReady", updateStrategy={}
    )
    _defaults(spec["updateStrategy"], type="RollingUpdate")
    _defaults(spec, persistentVolumeClaimRetentionPolicy={"whenDeleted": "Retain", "whenScaled": "Retain"})
    _template(spec)


def _daemonset(tree: Json) -> None:
    spec = tree.setdefault("spec", {})
    _defaults(spec, revisionHistoryLimit=10, updateStrategy={"type": "RollingUpdate"})
    _template(spec)


def job_spec(spec: Json) -> None:
    """Set the defaults of a Job's spec in place, for a Job or a CronJob's template."""
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = spec["parallelism"] = 1
    _defaults(
        spec, parallelism=1, backoffLimit=6, completionMode="NonIndexed", suspend=False, manualSelector=False
    )
    _defaults(spec, podReplacementPolicy="Failed" if spec.get("podFailurePolicy") else "TerminatingOrFailed")
    _template(spec, restart="")


def _job(tree: Json) -> None:
    spec = tree.setdefault("spec", {})
    job_spec(spec)
    meta, uid = metadata(tree), metadata(tree).get("uid")
    if spec["manualSelector"] or not uid or not isinstance(spec.get("template"), dict):
        return
    _defaults(spec, selector={"matchLabels": {"batch.kubernetes.io/controller-uid": uid}})
    template_meta = spec["template"].setdefault("metadata", {})
    own = {"controller-uid": uid, "job-name": meta["name"]}
    template_meta["labels"] = {
        **(template_meta.get("labels") or {}),
        **own,
        **{f"batch.kubernetes.io/{key}": value for key, value in own.items()},
    }
    meta["labels"] = meta.get("labels") or dict(template_meta["labels"])


def _cronjob(tree: Json) -> None:
    spec = tree.setdefault("spec", {})
    _defaults(
        spec, concurrencyPolicy="Allow", suspend=False, successfulJobsHistoryLimit=3, failedJobsHistoryLimit=1
    )


def _service(tree: Json) -> None:
    spec = tree.setdefault("spec", {})
    _defaults(spec, type="ClusterIP", sessionAffinity="None")
    for port in spec.get("ports") or ():
        _defaults(port, protocol="TCP", targetPort=port.get("port"))
    if spec["type"] == "ExternalName":
        return
    _defaults(spec, internalTrafficPolicy="Cluster", ipFamilies=["IPv4"], ipFamilyPolicy="SingleStack")
    if not spec.get("clusterIP"):
        number = next(_addresses)
        spec["clusterIP"] = f"10.0.{number // 250 % 250}.{number % 250 + 1}"
    _defaults(spec, clusterIPs=[spec["clusterIP"]])
    if spec["type"] == "LoadBalancer":
        _defaults(spec, allocateLoadBalancerNodePorts=True, externalTrafficPolicy="Cluster")


def _namespace(tree: Json) -> None:
    _defaults(tree.setdefault("spec", {}), finalizers=["kubernetes"])
    meta = metadata(tree)
    meta["labels"] = {**(meta.get("labels") or {}), "kubernetes.io/metadata.name": meta["name"]}


def _claim(tree: Json) -> None:
    _defaults(tree.setdefault("spec", {}), volumeMode="Filesystem")


def _secret(tree: Json) -> None:
    _defaults(tree, type="Opaque")
    if texts := tree.pop("stringData", None):
        encoded = {key: base64.b64encode(str(text).encode()).decode() for key, text in texts.items()}
        tree["data"] = {**(tree.get("data") or {}), **encoded}


def _storage_class(tree: Json) -> None:
    _defaults(tree, reclaimPolicy="Delete", volumeBindingMode="Immediate")


def _priority_class(tree: Json) -> None:
    _defaults(tree, preemptionPolicy="PreemptLowerPriority")


_FILLERS: dict[str, Callable[[Json], None]] = {
    "pods": _pod,
    "deployments.apps": _deployment,
    "replicasets.apps": _replicaset,
    "statefulsets.apps": _statefulset,
    "daemonsets.apps": _daemonset,
    "jobs.batch": _job,
    "cronjobs.batch": _cronjob,
    "services": _service,
    "namespaces": _namespace,
    "persistentvolumeclaims": _claim,
    "secrets": _secret,
    "storageclasses.storage.k8s.io": _storage_class,
    "priorityclasses.scheduling.k8s.io": _priority_class,
}

# The first status of new objects, for kinds whose status the server writes. Other kinds start without one.
FIRST_STATUS: dict[str, Json] = {
    "deployments.apps": {},
    "jobs.batch": {},
    "namespaces": {"phase": "Active"},
    "persistentvolumeclaims": {"phase": "Pending"},
    "persistentvolumes": {"phase": "Pending"},
    "replicasets.apps": {"replicas": 0},
    "services": {"loadBalancer": {}},
    "statefulsets.apps": {"replicas": 0, "availableReplicas": 0},
    "daemonsets.apps": {
        "currentNumberScheduled": 0,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 0,
        "numberReady": 0,
    },
}
