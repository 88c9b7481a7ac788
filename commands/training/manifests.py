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


def namespace(spec: TrainingSpec) -> Object:
    made = _object(spec, "v1", "Namespace", spec.namespace)
    # The training's pods are whatever its author wrote: they may not reach for the machine.
    made["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] = "baseline"
    return made


def pull_secret(spec: TrainingSpec) -> Object:
    """Without its content, which is read from the source when it is made."""
    _, _, name = spec.pull_secret.partition("/")
    return {**_object(spec, "v1", "Secret", name), "type": "kubernetes.io/dockerconfigjson"}


def script(spec: TrainingSpec) -> Object:
    return {
        **_object(spec, "v1", "ConfigMap", f"{spec.name}-script"),
        "data": {SCRIPT_NAME: spec.script_text},
    }


def services(spec: TrainingSpec) -> list[Object]:
    """One a role, annotated for Prometheus; and one a task where that is asked for."""
    made = [_service(spec, role_name(spec, WORKER), {TRAINING: spec.name, ROLE: WORKER}, is_scraped=True)]
    if spec.servers:
        selector = {TRAINING: spec.name, ROLE: SERVER}
        made.append(_service(spec, role_name(spec, SERVER), selector, is_scraped=True))
    if spec.service_per_task:
        job = role_name(spec, WORKER)
        made += [
            _service(spec, f"{job}-{index}", {_JOB_NAME: job, _JOB_INDEX: str(index)})
            for index in range(spec.workers)
        ]
        made += [
            _service(
                spec,
                f"{role_name(spec, SERVER)}-{index}",
                {TRAINING: spec.name, ROLE: SERVER, INDEX: str(index)},
            )
            for index in range(spec.servers)
        ]
    return made


def server(spec: TrainingSpec, index: int) -> Object:
    """The Deployment of one parameter server. Recreate: two of one name would answer to it in turn."""
    role = role_name(spec, SERVER)
    labels = {TRAINING: spec.name, ROLE: SERVER, INDEX: str(index)}
    made = _object(spec, "apps/v1", "Deployment", f"{role}-{index}", role=SERVER)
    pod = _pod(spec, SERVER, spec.server_amounts, [{"name": "TASK_INDEX", "value": str(index)}])
    made["spec"] = {
        "replicas": 1,
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": labels},
        "template": {
            "metadata": {
                "labels": {**_labels(spec), **labels},
                "annotations": {**_notes(spec), INDEX: str(index)},
            },
            "spec": {**pod, "hostname": f"{role}-{index}"},
        },
    }
    return made


def workers(spec: TrainingSpec) -> Object:
    """The worker Job, suspended: it is let go when all the others are there."""
    index = {"fieldRef": {"fieldPath": f"metadata.annotations['{_JOB_INDEX}']"}}
    pod = _pod(spec, WORKER, spec.worker_amounts, [{"name": "TASK_INDEX", "valueFrom": index}])
    job_spec: Object = {
        "completionMode": "Indexed",
        "parallelism": spec.workers,
        "completions": spec.workers,
        "backoffLimit": spec.backoff,
        "suspend": True,
        "template": {
            "metadata": {
                "labels": {**_labels(spec), ROLE: WORKER},
                "annotations": _notes(spec),
            },
            "spec": {**pod, "restartPolicy": "Never"},
        },
    }
    if spec.max_duration is not None:
        job_spec["activeDeadlineSeconds"] = round(spec.max_duration.total_seconds())
    return {**_object(spec, "batch/v1", "Job", role_name(spec, WORKER), role=WORKER), "spec": job_spec}


def role_name(spec: TrainingSpec, role: str) -> str:
    return f"{spec.name}-{role}"


def tolerated(spec: TrainingSpec) -> frozenset[str]:
    """The taint keys that the training's workers tolerate: GPU nodes are often tainted with the resource's name."""
    return frozenset({spec.gpu_resource}) if spec.gpus else frozenset()


def _pod(spec: TrainingSpec, role: str, amounts: dict[str, str], env: list[Object]) -> Object:
    container: Object = {
        "name": "main",
        "image": spec.image,
        "env": [*env, *_environment(spec, role)],
        "ports": [
            {"name": "task", "containerPort": TASK_PORT},
            {"name": "metrics", "containerPort": spec.metrics_port},
        ],
        "resources": _resources(amounts),
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
    }
    if spec.script_text:
        container["command"] = ["bash", f"{SCRIPT_FOLDER}/{SCRIPT_NAME}"]
        container["volumeMounts"].append({"name": "script", "mountPath": SCRIPT_FOLDER, "readOnly": True})
    elif spec.script:
        container["command"] = ["bash", spec.script]
    if spec.arguments:
        container["args"] = [_literal(word) for word in spec.arguments]
    # The 64 MiB that containers get are too few for NCCL: what is used here counts as the task's memory.
    volumes: list[Object] = [{"name": "shm", "emptyDir": {"medium": "Memory"}}]
    if spec.script_text:
        volumes.append({"name": "script", "configMap": {"name": f"{spec.name}-script", "defaultMode": 0o555}})
    pod: Object = {
        "subdomain": role_name(spec, role),
        "automountServiceAccountToken": False,
        "containers": [container],
        "volumes": volumes,
    }
    if spec.pull_secret:
        pod["imagePullSecrets"] = [{"name": spec.pull_secret.partition("/")[2]}]
    if spec.node_selector:
        pod["nodeSelector"] = dict(spec.node_selector)
    if role == WORKER and (keys := tolerated(spec)):
        pod["tolerations"] = [{"key": key, "operator": "Exists"} for key in sorted(keys)]
    if spec.priority_class:
        pod["priorityClassName"] = spec.priority_class
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


def _environment(spec: TrainingSpec, role: str) -> list[Object]:
    """The cluster's description, in the words that TensorFlow's and PyTorch's launchers read."""
    hosts = task_hosts(spec, WORKER, spec.workers)
    said = {
        "TRAINING_NAME": spec.name,
        "TASK_ROLE": role,
        "WORKER_HOSTS": ",".join(hosts),
        "PS_HOSTS": ",".join(task_hosts(spec, SERVER, spec.servers)),
        "WORKERS": str(spec.workers),
        "GPUS_PER_WORKER": f"{spec.gpus:g}",
        "MASTER_ADDR": hosts[0].partition(":")[0],
        "MASTER_PORT": str(TASK_PORT),
    }
    return [{"name": name, "value": value} for name, value in said.items()]


def task_hosts(spec: TrainingSpec, role: str, count: int) -> list[str]:
    """`host:port` of each task of a role: through its own Service, or as a host of the role's."""
    service = role_name(spec, role)
    behind = "" if spec.service_per_task else f".{service}"
    return [f"{service}-{index}{behind}:{TASK_PORT}" for index in range(count)]


def _service(spec: TrainingSpec, name: str, selector: dict[str, str], *, is_scraped: bool = False) -> Object:
    made = _object(spec, "v1", "Service", name)
    ports = [{"name": "task", "port": TASK_PORT}]
    if is_scraped:
        made["metadata"]["annotations"] |= {
            "prometheus.io/scrape": "true",
            "prometheus.io/port": str(spec.metrics_port),
            "prometheus.io/path": "/metrics",
        }
        ports.append({"name": "metrics", "port": spec.metrics_port})
    made["spec"] = {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": selector,
        "ports": ports,
    }
    return made


def _object(spec: TrainingSpec, api: str, kind: str, name: str, *, role: str = "") -> dict[str, Any]:
    labels = {**_labels(spec), **({ROLE: role} if role else {})}
    metadata: Object = {"name": name, "labels": labels, "annotations": _notes(spec)}
    if kind != "Namespace":
        metadata["namespace"] = spec.namespace
    return {"apiVersion": api, "kind": kind, "metadata": metadata}


def _labels(spec: TrainingSpec) -> dict[str, str]:
    said = {"team": label_safe(spec.team), "owner": label_safe(spec.owner)}
    return {MANAGED_BY: OURS, TRAINING: spec.name, **{key: value for key, value in said.items() if value}}


def _notes(spec: TrainingSpec) -> dict[str, str]:
    said = {OWNER: spec.owner, TEAM: spec.team, LAUNCHED_BY: spec.launched_by}
    return {key: value for key, value in said.items() if value}


def label_safe(words: str) -> str:
    """The nearest that a label may hold; empty when nothing is left."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", words)[:63].strip("-_.")


def _literal(word: str) -> str:
    """An argument that arrives as it was written; only `$(NAME)` of the task's environment is filled in.

    Kubernetes reads `$$` as an escaped `$`.
    """
    return word.replace("$$", "$$$$")
