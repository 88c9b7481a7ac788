"""Conversion of pod objects to simulated processes: role, training, resource use."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from demo.world.kube.api import Object
from demo.world.kube.training_objects import RUN_FOR, STEP_SECONDS
from demo.world.layout import GIB
from demo.world.shared_services import PodKey
from demo.world.state import Body, Role

MEAN_RUN = timedelta(minutes=75)  # of a training without an annotation for it
JOB_LABELS = ("batch.kubernetes.io/job-name", "job-name")
RANK_LABEL = "batch.kubernetes.io/job-completion-index"


# Annotations and labels of the training, role, owner and team; annotations take precedence.
METADATA_KEYS = {
    "training": ("yardmaster.io/training", "training"),
    "role": ("yardmaster.io/role", "role"),
    "owner": ("yardmaster.io/owner", "owner"),
    "team": ("yardmaster.io/team", "team"),
}


def _metadata(meta: Object, names: tuple[str, ...]) -> str:
    for source in (meta.get("annotations") or {}, meta.get("labels") or {}):
        for name in names:
            if name in source:
                return str(source[name])
    return ""


def key_of(pod: Object) -> PodKey:
    return PodKey(pod["metadata"]["namespace"], pod["metadata"]["name"])


def gpus_of(pod: Object) -> int:
    """The number of whole GPUs in the limits of the pod's containers."""
    return sum(
        int((spec.get("resources") or {}).get("limits", {}).get("nvidia.com/gpu", 0))
        for spec in pod["spec"]["containers"]
    )


def job_of(pod: Object) -> str | None:
    labels = pod["metadata"].get("labels") or {}
    return next((labels[name] for name in JOB_LABELS if name in labels), None)


def body_of(pod: Object, address: str) -> Body:
    """Return the process of a pod before it starts."""
    meta = pod["metadata"]
    labels = dict(meta.get("labels") or {})
    metadata = {key: value for key, names in METADATA_KEYS.items() if (value := _metadata(meta, names))}
    job = job_of(pod)
    is_worker = job is not None and (gpus_of(pod) > 0 or "training" in metadata)
    role = Role.SYSTEM
    if labels.get("k8s-app") == "kube-dns":
        role = Role.DNS
    elif is_worker or gpus_of(pod):
        role = Role.WORKER
    elif metadata.get("role") == "ps":
        role = Role.SERVER
    index = labels.get(RANK_LABEL) or (meta.get("annotations") or {}).get(RANK_LABEL) or "0"
    size = {Role.WORKER: 8.0, Role.SERVER: 3.0, Role.DNS: 0.06, Role.SYSTEM: 0.12}[role]
    cores = {Role.WORKER: 0.3, Role.SERVER: 0.8, Role.DNS: 0.2, Role.SYSTEM: 0.04}[role]
    return Body(
        key=key_of(pod),
        uid=meta["uid"],
        node=pod["spec"]["nodeName"],
        role=role,
        container=pod["spec"]["containers"][0]["name"],
        training=PodKey(meta["namespace"], job) if is_worker and job is not None else None,
        rank=int(index),
        memory=size * GIB,
        cpus=cores,
        address=address,
        labels=labels,
        metadata=metadata,
        metrics_port=next(
            (
                int(port["containerPort"])
                for spec in pod["spec"]["containers"]
                for port in spec.get("ports") or []
                if port.get("name") == "metrics"
            ),
            0,
        ),
        claims=tuple(
            volume["persistentVolumeClaim"]["claimName"]
            for volume in pod["spec"].get("volumes") or []
            if "persistentVolumeClaim" in volume
        ),
    )


def step_seconds(pod: Object) -> float:
    return float((pod["metadata"].get("annotations") or {}).get(STEP_SECONDS, 0.5))


def run_for(pod: Object) -> timedelta | None:
    """How long this training runs; None for the initial trainings, which never end."""
    notes = pod["metadata"].get("annotations") or {}
    if RUN_FOR in notes:
        return timedelta(seconds=float(notes[RUN_FOR]))
    return None if STEP_SECONDS in notes else MEAN_RUN


def ranks_and_tasks(pod: Object, job: Object | None, servers: Callable[[str], int]) -> tuple[int, int]:
    """The number of workers, and of tasks that look each other up."""
    ranks = int((job or {}).get("spec", {}).get("parallelism", 1))
    return ranks, ranks + servers(pod["metadata"]["namespace"])


def is_over(pod: Object) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def restarts(pod: Object) -> bool:
    """Whether the kubelet restarts a failed container of this pod."""
    return str(pod["spec"].get("restartPolicy", "Always")) != "Never"
