"""The Kubernetes objects of a training, from its spec: the same set as vivo's. Pure.

Workers are one Indexed Job; each parameter server is its own Deployment, so that it keeps its name. A headless
Service per role makes `NAME-worker-0.NAME-worker` and `NAME-ps-0.NAME-ps` resolve before the pods are ready.
"""

import re
from typing import Any

from commands.plans.object_refs import Json
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
    # The pods run whatever their author wrote, so they get no access to the host.
    made["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] = "baseline"
    return made


def pull_secret(spec: TrainingSpec) -> Object:
    """The Secret without its content, which is read from the source at creation."""
    _, _, name = spec.pull_secret.partition("/")
    return {**_object(spec, "v1", "Secret", name), "type": "kubernetes.io/dockerconfigjson"}


def script(spec: TrainingSpec) -> Object:
    return {
        **_object(spec, "v1", "ConfigMap", f"{spec.name}-script"),
        "data": {SCRIPT_NAME: spec.script_text},
    }


def services(spec: TrainingSpec) -> list[Object]:
    """Return one Service per role, annotated for Prometheus, and one per task if requested."""
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
    """The Deployment of one parameter server. Recreate, or two pods would share its name during an update."""
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
                "annotations": {**_annotations(spec), INDEX: str(index)},
            },
            "spec": {**pod, "hostname": f"{role}-{index}"},
        },
    }
    return made


def workers(spec: TrainingSpec) -> Object:
    """The worker Job, suspended until all other objects exist."""
    index = {"fieldRef": {"fieldPath": f"metadata.annotations['{_JOB_INDEX}']"}}
    pod = _pod(spec, WORKER, spec.worker_amounts, [{"name": "TASK_INDEX", "valueFrom": index}])
    job_spec: Object = {
        "completionMode": "Indexed",
        "parallelism": spec.workers,
        "completions": spec.workers,
        "backoffLimit": spec.backoff,
        "suspend": True,
        "template": {
            "metadata": {"labels": {**_labels(spec), ROLE: WORKER}, "annotations": _annotations(spec)},
            "spec": {**pod, "restartPolicy": "Never"},
        },
    }
    if spec.max_duration is not None:
        job_spec["activeDeadlineSeconds"] = round(spec.max_duration.total_seconds())
    return {**_object(spec, "batch/v1", "Job", role_name(spec, WORKER), role=WORKER), "spec": job_spec}


def role_name(spec: TrainingSpec, role: str) -> str:
    return f"{spec.name}-{role}"


def tolerated(spec: TrainingSpec) -> frozenset[str]:
    """Return the taint keys that workers tolerate: GPU nodes are often tainted with the resource name."""
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
    # The default 64 MiB are too small for NCCL. Usage counts towards the task's memory.
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
    """CPU is only a request; memory and GPUs are also limits."""
    limits = {name: one for name, one in amounts.items() if name != "cpu"}
    made: Object = {}
    if amounts:
        made["requests"] = dict(amounts)
    if limits:
        made["limits"] = limits
    return made


def _environment(spec: TrainingSpec, role: str) -> list[Object]:
    """The variables that describe the training, as TensorFlow's and PyTorch's launchers read them."""
    hosts = task_hosts(spec, WORKER, spec.workers)
    values = {
        "TRAINING_NAME": spec.name,
        "TASK_ROLE": role,
        "WORKER_HOSTS": ",".join(hosts),
        "PS_HOSTS": ",".join(task_hosts(spec, SERVER, spec.servers)),
        "WORKERS": str(spec.workers),
        "GPUS_PER_WORKER": f"{spec.gpus:g}",
        "MASTER_ADDR": hosts[0].partition(":")[0],
        "MASTER_PORT": str(TASK_PORT),
    }
    return [{"name": name, "value": value} for name, value in values.items()]


def task_hosts(spec: TrainingSpec, role: str, count: int) -> list[str]:
    """Return `host:port` of each task of a role: its own Service, or its host name in the Service of the role."""
    service = role_name(spec, role)
    suffix = "" if spec.service_per_task else f".{service}"
    return [f"{service}-{index}{suffix}:{TASK_PORT}" for index in range(count)]


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
    metadata: Object = {"name": name, "labels": labels, "annotations": _annotations(spec)}
    if kind != "Namespace":
        metadata["namespace"] = spec.namespace
    return {"apiVersion": api, "kind": kind, "metadata": metadata}


def _labels(spec: TrainingSpec) -> dict[str, str]:
    values = {"team": label_safe(spec.team), "owner": label_safe(spec.owner)}
    return {MANAGED_BY: OURS, TRAINING: spec.name, **{key: value for key, value in values.items() if value}}


def _annotations(spec: TrainingSpec) -> dict[str, str]:
    values = {OWNER: spec.owner, TEAM: spec.team, LAUNCHED_BY: spec.launched_by}
    return {key: value for key, value in values.items() if value}


def label_safe(words: str) -> str:
    """Return the closest valid label value; empty if no valid characters remain."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", words)[:63].strip("-_.")


def _literal(word: str) -> str:
    """Escape an argument so that only `$(NAME)` is expanded: Kubernetes reads `$$` as an escaped `$`."""
    return word.replace("$$", "$$$$")
