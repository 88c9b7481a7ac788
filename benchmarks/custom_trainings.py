"""The trainings of a large cluster in kinds of their own: a rank on each node, and a parameter server beside it. Pure.

Each training has eight nodes, so that with ten pods on a node a fifth of all pods are in such a kind.
"""

from collections.abc import Iterator
from typing import Any

RANKS, GPUS = 8, 8
_OPERATOR, _VOLCANO = "kubeflow.org/v1", "batch.volcano.sh/v1alpha1"
KINDS = (  # which a training is of, in turn: its API and kind, and its roles of ranks and servers
    (_OPERATOR, "PyTorchJob", ("Worker", "Master")),
    (_OPERATOR, "TFJob", ("Worker", "PS")),
    (_VOLCANO, "Job", ("worker", "ps")),
)
PATHS_OF_KINDS = {
    "/apis/kubeflow.org/v1/pytorchjobs": "pytorchjob",
    "/apis/kubeflow.org/v1/tfjobs": "tfjob",
    "/apis/batch.volcano.sh/v1alpha1/jobs": "vcjob",
}
_NUMBERS = {kind: number for number, kind in enumerate(PATHS_OF_KINDS.values())}


def name_of(training: int) -> tuple[str, str]:
    """Return the namespace and the name of a training."""
    return f"team-{training % 20:02d}", f"train-{training:04d}"


def in_its_kind(pod: dict[str, Any], training: int, rank: int, *, is_server: bool) -> dict[str, Any]:
    """Return the pod as its kind's controller makes it: its name, its labels and its owner."""
    api, kind, roles = KINDS[training % len(KINDS)]
    (namespace, name), role = name_of(training), roles[is_server]
    meta = pod["metadata"]
    labels = {one: value for one, value in meta["labels"].items() if not one.startswith("batch.")}
    notes = dict(meta["annotations"])
    if api == _VOLCANO:
        labels |= {"volcano.sh/job-name": name, "volcano.sh/task-spec": role}
        notes |= {"volcano.sh/task-spec": role, "volcano.sh/task-index": str(rank)}
    else:
        labels |= {
            "training.kubeflow.org/job-name": name,
            "training.kubeflow.org/replica-type": role.lower(),
            "training.kubeflow.org/replica-index": str(rank),
        }
    owner = {"apiVersion": api, "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}
    meta |= {"name": f"{name}-{role.lower()}-{rank}", "namespace": namespace, "labels": labels}
    meta |= {"annotations": notes, "ownerReferences": [owner]}
    return pod


def objects(kind: str, nodes: int) -> Iterator[dict[str, Any]]:
    """Yield the objects of a kind, without their common metadata: `meta` has namespace and name."""
    for training in range(_NUMBERS[kind], nodes // RANKS, len(KINDS)):
        _, _, (worker, server) = KINDS[training % len(KINDS)]
        namespace, name = name_of(training)
        roles = {worker: _template({"nvidia.com/gpu": str(GPUS)}), server: _template({"cpu": "4"})}
        if kind == "vcjob":
            tasks = [{"name": role, "replicas": RANKS, "template": of} for role, of in roles.items()]
            spec: dict[str, Any] = {"queue": namespace, "minAvailable": 2 * RANKS, "tasks": tasks}
            status: dict[str, Any] = {"state": {"phase": "Running"}, "running": 2 * RANKS}
        else:
            field = "pytorchReplicaSpecs" if kind == "pytorchjob" else "tfReplicaSpecs"
            spec = {field: {role: {"replicas": RANKS, "template": of} for role, of in roles.items()}}
            running = {"type": "Running", "status": "True", "reason": "JobRunning"}
            status = {"conditions": [running], "startTime": "2026-11-21T00:01:00Z"}
        yield {"metadata": {"namespace": namespace, "name": name}, "spec": spec, "status": status}


def _template(limits: dict[str, str]) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "main", "resources": {"limits": limits}}]}}
