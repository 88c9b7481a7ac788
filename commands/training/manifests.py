"""The Kubernetes objects that a training has in any kind, and the pod of a role. Pure.

A headless Service per role is for Prometheus, and for the host names of kinds that have none of their own.
"""

import re
from collections.abc import Callable
from typing import Any

from alerts.cards.channel_id import kind_and_name
from collectors.trainings.queueing import PRIORITY_CLASS, QUEUE_NAME
from commands.execution.object_refs import JsonValue
from commands.training.spec import KUEUE, TrainingRole, TrainingSpec, Volume

TASK_PORT = 2222
TRAINING_LABEL, ROLE, INDEX = "yardmaster.io/training", "yardmaster.io/role", "yardmaster.io/index"
OWNER, TEAM, LAUNCHED_BY = "yardmaster.io/owner", "yardmaster.io/team", "yardmaster.io/launched-by"
MANAGED_BY = "app.kubernetes.io/managed-by"
OURS = "yardmaster"
SCRIPT_FOLDER, SCRIPT_NAME = "/yardmaster/script", "run.sh"
SCRIPT_OBJECT = (
    "training-script"  # the same in each training's namespace: no right is needed for other ConfigMaps
)
_JOB_INDEX = "batch.kubernetes.io/job-completion-index"
_SERVERS = "ps"  # always described in the environment, also when there are none

Object = dict[str, JsonValue]
Host = Callable[[TrainingRole, int], str]  # the host name of a task, which resolves in its namespace


def namespace(spec: TrainingSpec) -> Object:
    made = top_object(spec, "v1", "Namespace", spec.namespace)
    # The pods run whatever their author wrote, so they get no access to the host.
    made["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] = "baseline"
    return made


def pull_secret(spec: TrainingSpec) -> Object:
    """The Secret without its content, which is read from the source at creation."""
    _, _, name = spec.pull_secret.partition("/")
    return {**top_object(spec, "v1", "Secret", name), "type": "kubernetes.io/dockerconfigjson"}


def script(spec: TrainingSpec) -> Object:
    return {
        **top_object(spec, "v1", "ConfigMap", SCRIPT_OBJECT),
        "data": {SCRIPT_NAME: spec.script_text},
    }


def services(spec: TrainingSpec) -> list[Object]:
    """Return one Service per role, annotated for Prometheus."""
    made = []
    for role in spec.roles:
        one = service(spec, role_name(spec, role), {TRAINING_LABEL: spec.name, ROLE: role.name})
        one["metadata"]["annotations"] |= {
            "prometheus.io/scrape": "true",
            "prometheus.io/port": str(spec.metrics_port),
            "prometheus.io/path": "/metrics",
        }
        one["spec"]["ports"].append({"name": "metrics", "port": spec.metrics_port})
        made.append(one)
    return made


def service(spec: TrainingSpec, name: str, selector: dict[str, str]) -> Object:
    """Return a headless Service, whose names resolve before the pods are ready."""
    made = top_object(spec, "v1", "Service", name)
    made["spec"] = {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": selector,
        "ports": [{"name": "task", "port": TASK_PORT}],
    }
    return made


def role_name(spec: TrainingSpec, role: TrainingRole) -> str:
    return f"{spec.name}-{role.name}"


def indexed_job(spec: TrainingSpec, role: TrainingRole, host: Host) -> Object:
    """Return the spec of an Indexed Job with the tasks of a role: a Job is made of it, or a part of a kind's object."""
    index = {"fieldRef": {"fieldPath": f"metadata.annotations['{_JOB_INDEX}']"}}
    pod = pod_spec(spec, role, {"name": "TASK_INDEX", "valueFrom": index}, host)
    made: Object = {
        "completionMode": "Indexed",
        "parallelism": role.replicas,
        "completions": role.replicas,
        "backoffLimit": spec.backoff,
        "template": {**pod_metadata(spec, role), "spec": {**pod, "restartPolicy": "Never"}},
    }
    if spec.max_duration is not None and not role.is_server:
        made["activeDeadlineSeconds"] = round(spec.max_duration.total_seconds())
    return made


def pod_metadata(spec: TrainingSpec, role: TrainingRole) -> Object:
    return {"metadata": {"labels": {**_labels(spec), ROLE: role.name}, "annotations": _annotations(spec)}}


def pod_spec(spec: TrainingSpec, role: TrainingRole, index: Object, host: Host) -> Object:
    """Return the pod of a task. `index` is the environment variable with its number."""
    container: Object = {
        "name": "main",
        "image": role.image or spec.image,
        "env": [index, *_environment(spec, role, host), *_own_environment(spec)],
        "ports": [
            {"name": "task", "containerPort": TASK_PORT},
            {"name": "metrics", "containerPort": spec.metrics_port},
        ],
        "resources": _resources(role),
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
    }
    if spec.script_text:
        container["volumeMounts"].append({"name": "script", "mountPath": SCRIPT_FOLDER, "readOnly": True})
    if role.command:
        container["command"] = list(role.command)
    if role.arguments:
        container["args"] = [_literal(word) for word in role.arguments]
    # The default 64 MiB are too small for NCCL. Usage counts towards the task's memory.
    volumes: list[Object] = [{"name": "shm", "emptyDir": {"medium": "Memory"}}]
    if spec.script_text:
        volumes.append({"name": "script", "configMap": {"name": SCRIPT_OBJECT, "defaultMode": 0o555}})
    for one in spec.volumes:
        mount = {"name": one.name, "mountPath": one.path, "readOnly": one.is_read_only}
        container["volumeMounts"].append(mount)
        volumes.append({"name": one.name, **_source(one)})
    pod: Object = {"automountServiceAccountToken": False, "containers": [container], "volumes": volumes}
    if spec.pull_secret:
        pod["imagePullSecrets"] = [{"name": spec.pull_secret.partition("/")[2]}]
    if spec.node_selector:
        pod["nodeSelector"] = dict(spec.node_selector)
    if spec.not_on:
        fields = [{"key": "metadata.name", "operator": "NotIn", "values": [node]} for node in spec.not_on]
        required = {"nodeSelectorTerms": [{"matchFields": fields}]}
        pod["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    if tolerated := sorted({*role.tolerates, *spec.tolerations}):
        pod["tolerations"] = [{"key": key, "operator": "Exists"} for key in tolerated]
    if spec.priority_class:
        pod["priorityClassName"] = spec.priority_class
    return pod


def top_object(spec: TrainingSpec, api: str, kind: str, name: str, *, role: str = "") -> dict[str, Any]:
    """Return an object without a spec, with the labels and annotations that say whose it is."""
    labels = {**_labels(spec), **({ROLE: role} if role else {})}
    metadata: Object = {"name": name, "labels": labels, "annotations": _annotations(spec)}
    if kind != "Namespace":
        metadata["namespace"] = spec.namespace
    return {"apiVersion": api, "kind": kind, "metadata": metadata}


def in_queue(spec: TrainingSpec, made: Object) -> Object:
    """Return an object with the labels by which Kueue takes it up, if the training is in a queue of Kueue."""
    if spec.queue_system != KUEUE:
        return made
    labels = {
        QUEUE_NAME: spec.queue,
        **({PRIORITY_CLASS: spec.queue_priority} if spec.queue_priority else {}),
    }
    meta = made["metadata"]
    return {**made, "metadata": {**meta, "labels": {**meta["labels"], **labels}}}


def manifest_name(made: Object) -> str:
    return f"{made['kind']} {made['metadata']['name']}"


def _resources(role: TrainingRole) -> Object:
    given = {"requests": role.resources, "limits": role.limits}
    return {name: amounts for name, amounts in given.items() if amounts}


def _source(volume: Volume) -> Object:
    if volume.claim:
        return {"persistentVolumeClaim": {"claimName": volume.claim, "readOnly": volume.is_read_only}}
    return {"emptyDir": {"sizeLimit": volume.size}}


def _own_environment(spec: TrainingSpec) -> list[Object]:
    return [_variable(name, _literal(value)) for name, value in spec.env.items()]


def _environment(spec: TrainingSpec, role: TrainingRole, host: Host) -> list[Object]:
    """The variables that describe the training, as TensorFlow's and PyTorch's launchers read them."""
    hosts = {one.name: [host(one, index) for index in range(one.replicas)] for one in spec.roles}
    workers = spec.workers
    values = {
        "TRAINING_NAME": spec.name,
        "TASK_ROLE": role.name,
        **{
            f"{name.upper()}_HOSTS": ",".join(f"{one}:{TASK_PORT}" for one in hosts.get(name, ()))
            for name in dict.fromkeys((*hosts, _SERVERS))
        },
        "WORKERS": str(workers.replicas),
        "GPUS_PER_WORKER": f"{workers.gpus:g}",
        "MASTER_ADDR": hosts[workers.name][0],
        "MASTER_PORT": str(TASK_PORT),
    }
    return [_variable(name, value) for name, value in values.items()]


def _variable(name: str, value: str) -> Object:
    """Return a variable. An empty value is left out, as each Go client does that writes the object again."""
    return {"name": name, "value": value} if value else {"name": name}


def _labels(spec: TrainingSpec) -> dict[str, str]:
    values = {"team": label_safe(spec.team), "owner": label_safe(spec.owner)}
    return {
        MANAGED_BY: OURS,
        TRAINING_LABEL: spec.name,
        **{key: value for key, value in values.items() if value},
    }


def _annotations(spec: TrainingSpec) -> dict[str, str]:
    values = {OWNER: spec.owner, TEAM: spec.team, LAUNCHED_BY: kind_and_name(spec.launched_by)[1]}
    return {key: value for key, value in values.items() if value}


def label_safe(words: str) -> str:
    """Return the closest valid label value; empty if no valid characters remain."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", words)[:63].strip("-_.")


def _literal(word: str) -> str:
    """Escape an argument so that only `$(NAME)` is expanded: Kubernetes reads `$$` as an escaped `$`."""
    return word.replace("$$", "$$$$")
