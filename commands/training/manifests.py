"""This file writes the objects of a plain training: vivo's set, from an order. Pure.

Workers are one Indexed Job; each parameter server is a Deployment of its own, so that it keeps its name. A headless
Service a role makes `NAME-worker-0.NAME-worker` and `NAME-ps-0.NAME-ps` resolve, before anybody is ready.
"""

import re
from typing import Any

from commands.plans.steps import Json
from commands.training.spec import TrainingSpec

TASK_PORT, WORKER, SERVER = 2222, "worker", "ps"
TRAINING, ROLE, INDEX = "yardmaster.io/training", "yardmaster.io/role", "yardmaster.io/index"
OWNER, TEAM, LAUNCHED_BY = "yardmaster.io/owner", "yardmaster.io/team", "yardmaster.io/launched-by"
MANAGED_BY = "app.kubernetes.io/managed-by"
OURS = "yardmaster"
SCRIPT_FOLDER, SCRIPT_NAME = "/yardmaster/script", "run.sh"
_JOB_NAME, _JOB_INDEX = "batch.kubernetes.io/job-name", "batch.kubernetes.io/job-completion-index"

Object = dict[str, Json]


def namespace(order: TrainingSpec) -> Object:
    made = _object(order, "v1", "Namespace", order.namespace)
    # The training's pods are whatever its author wrote: they may not reach for the machine.
    made["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] = "baseline"
    return made


def pull_secret(order: TrainingSpec) -> Object:
    """Without its content, which is read from the source when it is made."""
    _, _, name = order.pull_secret.partition("/")
    return {**_object(order, "v1", "Secret", name), "type": "kubernetes.io/dockerconfigjson"}


def script(order: TrainingSpec) -> Object:
    return {
        **_object(order, "v1", "ConfigMap", f"{order.name}-script"),
        "data": {SCRIPT_NAME: order.script_text},
    }


def services(order: TrainingSpec) -> list[Object]:
    """One a role, annotated for Prometheus; and one a task where that is asked for."""
    made = [_service(order, role_name(order, WORKER), {TRAINING: order.name, ROLE: WORKER}, is_scraped=True)]
    if order.servers:
        selector = {TRAINING: order.name, ROLE: SERVER}
        made.append(_service(order, role_name(order, SERVER), selector, is_scraped=True))
    if order.service_per_task:
        job = role_name(order, WORKER)
        made += [
            _service(order, f"{job}-{index}", {_JOB_NAME: job, _JOB_INDEX: str(index)})
            for index in range(order.workers)
        ]
        made += [
            _service(
                order,
                f"{role_name(order, SERVER)}-{index}",
                {TRAINING: order.name, ROLE: SERVER, INDEX: str(index)},
            )
            for index in range(order.servers)
        ]
    return made


def server(order: TrainingSpec, index: int) -> Object:
    """The Deployment of one parameter server. Recreate: two of one name would answer to it in turn."""
    role = role_name(order, SERVER)
    labels = {TRAINING: order.name, ROLE: SERVER, INDEX: str(index)}
    made = _object(order, "apps/v1", "Deployment", f"{role}-{index}", role=SERVER)
    pod = _pod(order, SERVER, order.server_amounts, [{"name": "TASK_INDEX", "value": str(index)}])
    made["spec"] = {
        "replicas": 1,
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": labels},
        "template": {
            "metadata": {
                "labels": {**_labels(order), **labels},
                "annotations": {**_notes(order), INDEX: str(index)},
            },
            "spec": {**pod, "hostname": f"{role}-{index}"},
        },
    }
    return made


def workers(order: TrainingSpec) -> Object:
    """The worker Job, suspended: it is let go when all the others are there."""
    index = {"fieldRef": {"fieldPath": f"metadata.annotations['{_JOB_INDEX}']"}}
    pod = _pod(order, WORKER, order.worker_amounts, [{"name": "TASK_INDEX", "valueFrom": index}])
    spec: Object = {
        "completionMode": "Indexed",
        "parallelism": order.workers,
        "completions": order.workers,
        "backoffLimit": order.backoff,
        "suspend": True,
        "template": {
            "metadata": {
                "labels": {**_labels(order), ROLE: WORKER},
                "annotations": _notes(order),
            },
            "spec": {**pod, "restartPolicy": "Never"},
        },
    }
    if order.max_duration is not None:
        spec["activeDeadlineSeconds"] = round(order.max_duration.total_seconds())
    return {**_object(order, "batch/v1", "Job", role_name(order, WORKER), role=WORKER), "spec": spec}


def role_name(order: TrainingSpec, role: str) -> str:
    return f"{order.name}-{role}"


def tolerated(order: TrainingSpec) -> frozenset[str]:
    """The taint keys that the training's workers tolerate: GPU nodes are often tainted with the resource's name."""
    return frozenset({order.gpu_resource}) if order.gpus else frozenset()


def _pod(order: TrainingSpec, role: str, amounts: dict[str, str], env: list[Object]) -> Object:
    container: Object = {
        "name": "main",
        "image": order.image,
        "env": [*env, *_environment(order, role)],
        "ports": [
            {"name": "task", "containerPort": TASK_PORT},
            {"name": "metrics", "containerPort": order.metrics_port},
        ],
        "resources": _resources(amounts),
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
    }
    if order.script_text:
        container["command"] = ["bash", f"{SCRIPT_FOLDER}/{SCRIPT_NAME}"]
        container["volumeMounts"].append({"name": "script", "mountPath": SCRIPT_FOLDER, "readOnly": True})
    elif order.script:
        container["command"] = ["bash", order.script]
    if order.arguments:
        container["args"] = [_literal(word) for word in order.arguments]
    # The 64 MiB that containers get are too few for NCCL: what is used here counts as the task's memory.
    volumes: list[Object] = [{"name": "shm", "emptyDir": {"medium": "Memory"}}]
    if order.script_text:
        volumes.append(
            {"name": "script", "configMap": {"name": f"{order.name}-script", "defaultMode": 0o555}}
        )
    pod: Object = {
        "subdomain": role_name(order, role),
        "automountServiceAccountToken": False,
        "containers": [container],
        "volumes": volumes,
    }
    if order.pull_secret:
        pod["imagePullSecrets"] = [{"name": order.pull_secret.partition("/")[2]}]
    if order.node_selector:
        pod["nodeSelector"] = dict(order.node_selector)
    if role == WORKER and (keys := tolerated(order)):
        pod["tolerations"] = [{"key": key, "operator": "Exists"} for key in sorted(keys)]
    if order.priority_class:
        pod["priorityClassName"] = order.priority_class
    return pod


def _resources(amounts: dict[str, str]) -> Object:
    """CPU is asked for and may be exceeded; memory and GPUs are also the most that a task may use."""
    limits = {name: one for name, one in amounts.items() if name != "cpu"}
    made: Object = {}
    if amounts:
        made["requests"] = dict(amounts)
    if limits:
        made["limits"] = limits
    return made


def _environment(order: TrainingSpec, role: str) -> list[Object]:
    """The cluster's description, in the words that TensorFlow's and PyTorch's launchers read."""
    hosts = task_hosts(order, WORKER, order.workers)
    said = {
        "TRAINING_NAME": order.name,
        "TASK_ROLE": role,
        "WORKER_HOSTS": ",".join(hosts),
        "PS_HOSTS": ",".join(task_hosts(order, SERVER, order.servers)),
        "WORKERS": str(order.workers),
        "GPUS_PER_WORKER": f"{order.gpus:g}",
        "MASTER_ADDR": hosts[0].partition(":")[0],
        "MASTER_PORT": str(TASK_PORT),
    }
    return [{"name": name, "value": value} for name, value in said.items()]


def task_hosts(order: TrainingSpec, role: str, count: int) -> list[str]:
    """`host:port` of each task of a role: through its own Service, or as a host of the role's."""
    service = role_name(order, role)
    behind = "" if order.service_per_task else f".{service}"
    return [f"{service}-{index}{behind}:{TASK_PORT}" for index in range(count)]


def _service(order: TrainingSpec, name: str, selector: dict[str, str], *, is_scraped: bool = False) -> Object:
    made = _object(order, "v1", "Service", name)
    ports = [{"name": "task", "port": TASK_PORT}]
    if is_scraped:
        made["metadata"]["annotations"] |= {
            "prometheus.io/scrape": "true",
            "prometheus.io/port": str(order.metrics_port),
            "prometheus.io/path": "/metrics",
        }
        ports.append({"name": "metrics", "port": order.metrics_port})
    made["spec"] = {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": selector,
        "ports": ports,
    }
    return made


def _object(order: TrainingSpec, api: str, kind: str, name: str, *, role: str = "") -> dict[str, Any]:
    labels = {**_labels(order), **({ROLE: role} if role else {})}
    metadata: Object = {"name": name, "labels": labels, "annotations": _notes(order)}
    if kind != "Namespace":
        metadata["namespace"] = order.namespace
    return {"apiVersion": api, "kind": kind, "metadata": metadata}


def _labels(order: TrainingSpec) -> dict[str, str]:
    said = {"team": label_safe(order.team), "owner": label_safe(order.owner)}
    return {MANAGED_BY: OURS, TRAINING: order.name, **{key: value for key, value in said.items() if value}}


def _notes(order: TrainingSpec) -> dict[str, str]:
    said = {OWNER: order.owner, TEAM: order.team, LAUNCHED_BY: order.launched_by}
    return {key: value for key, value in said.items() if value}


def label_safe(words: str) -> str:
    """The nearest that a label may hold; empty when nothing is left."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", words)[:63].strip("-_.")


def _literal(word: str) -> str:
    """An argument that arrives as it was written; only `$(NAME)` of the task's environment is filled in.

    Kubernetes reads `$$` as an escaped `$`.
    """
    return word.replace("$$", "$$$$")
