"""Trainings as RayJobs: a cluster of a head and workers for one command, which ends with it.

Ray suspends only what initializes or runs, and deletes its cluster then. Source: `ray.io/v1`, KubeRay 1.4 and 1.7.
"""

import shlex
from dataclasses import replace
from functools import partial

from collectors.cluster.kinds import RAYJOBS
from collectors.cluster.objects import RayJob
from collectors.facts.sentences import listed, sentence
from collectors.trainings.rayjob import rayjob_end
from commands.execution.steps import Create, Patch, Running, Step
from commands.training import manifests
from commands.training.manifests import Object
from commands.training.spec import KUEUE, VOLCANO, TrainingRole, TrainingSpec
from commands.training.suspend_field import launched, suspending
from commands.training.writing_kind import Launching, WritingKind

_CONTROLLER = "ray.io/kuberay-operator"
_PLURAL = RAYJOBS.path.rpartition("/")[2]
_HEAD = "head"
# Of the head. KubeRay makes its Service of the ports that stand here, and submits nothing without the dashboard's.
_PORTS = {"gcs-server": 6379, "dashboard": 8265, "client": 10001}
_SUSPENDS = ("Initializing", "Running", "")
# Ray's autoscaler, a container of the head's pod, asks the API for workers. The account that KubeRay makes for it is
# mounted in that container alone: the command of the training never gets it.
_ACCOUNT: Object = {
    "name": "autoscaler-account",
    "projected": {
        "sources": [
            {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {
                "downwardAPI": {
                    "items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]
                }
            },
        ]
    },
}
_AUTOSCALING: Object = {
    "enableInTreeAutoscaling": True,
    "autoscalerOptions": {
        "volumeMounts": [
            {
                "name": _ACCOUNT["name"],
                "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                "readOnly": True,
            }
        ]
    },
}


def _roles(spec: TrainingSpec) -> tuple[TrainingRole, ...]:
    """The command is the job's. The pods of its cluster run Ray itself."""
    workers = replace(spec.workers, command=(), arguments=())
    return workers, replace(workers, name=_HEAD, replicas=1, least=0, gpus=0)


def _launch(spec: TrainingSpec) -> tuple[Step, ...]:
    workers, head = roles = _roles(spec)
    shaped = replace(spec, roles=roles)
    made = manifests.top_object(spec, RAYJOBS.api, RAYJOBS.kind, spec.name)
    made["spec"] = {
        "suspend": True,
        "entrypoint": shlex.join((*spec.workers.command, *spec.workers.arguments)),
        "shutdownAfterJobFinishes": True,
        "backoffLimit": spec.backoff,
        "rayClusterSpec": {
            "headGroupSpec": {
                "rayStartParams": {"dashboard-host": "0.0.0.0"},
                "template": _template(shaped, head),
            },
            "workerGroupSpecs": [
                {
                    "groupName": workers.name,
                    "replicas": workers.needed,
                    "minReplicas": workers.needed,
                    "maxReplicas": workers.replicas,
                    "rayStartParams": {},
                    "template": _template(shaped, workers),
                }
            ],
        },
    }
    if workers.least:
        made["spec"]["rayClusterSpec"] |= _AUTOSCALING
    if spec.max_duration is not None:
        made["spec"]["activeDeadlineSeconds"] = round(spec.max_duration.total_seconds())
    if spec.queue_system == VOLCANO:
        made["metadata"]["labels"]["volcano.sh/queue-name"] = spec.queue
    return launched(spec, made, listed((role.text() for role in roles), "and"))


def _template(spec: TrainingSpec, role: TrainingRole) -> Object:
    """Its tasks have no numbers of their own: Ray gives the work out."""
    pod = manifests.pod_spec(spec, role, {"name": "TASK_INDEX", "value": "0"}, partial(_host, spec.name))
    container = pod["containers"][0]
    container["name"] = f"ray-{role.name}"
    if role.name == _HEAD:
        container["ports"] += [{"name": name, "containerPort": port} for name, port in _PORTS.items()]
        if spec.workers.least:
            pod["volumes"].append(_ACCOUNT)
    return {**manifests.pod_metadata(spec, role), "spec": pod}


def _host(name: str, role: TrainingRole, _index: int) -> str:
    return f"{name}-{role.name}"  # the Service of the role


def _refusal(spec: TrainingSpec) -> str:
    if any(role.is_server for role in spec.roles):
        return sentence("`--ps` is not for RayJobs: Ray has its own way to share parameters.")
    if spec.service_per_task:
        return sentence("`--service-per-task` is not for RayJobs: Ray connects its workers itself.")
    if spec.workers.least and spec.queue_system == KUEUE:
        return sentence(
            "Kueue does not admit a RayJob whose number of workers changes: give `--workers` one number, or leave out "
            "`--queue`."
        )
    if not (spec.workers.command or spec.workers.arguments):
        return sentence("A RayJob runs a command: give it behind `--`, or a script.")
    return ""


def _has_ended(one: RayJob) -> bool:
    ended, _ = rayjob_end(one)
    return ended is not None


def _doubts(verb: str, one: RayJob) -> str:
    state = one.status.job_deployment_status
    if verb != "suspend" or state in _SUSPENDS:
        return ""
    return sentence(
        "Ray suspends a job only while it initializes or runs, and this one is {state}: it may not follow.",
        state=state,
    )


KIND = WritingKind(
    objects=RAYJOBS,
    has_ended=_has_ended,
    launching=Launching(
        summary="a RayJob with a cluster of its own, of a head and one group of workers, which ends with it",
        steps=_launch,
        rights=(*Create.rights(RAYJOBS.group, _PLURAL), *Patch.rights(RAYJOBS.group, _PLURAL)),
        refusal=_refusal,
        roles=_roles,
        queues=(KUEUE, VOLCANO),
        elastic=sentence(
            "It starts with the fewest workers that it needs; Ray's autoscaler adds and removes others as the command "
            "asks for resources."
        ),
    ),
    suspending=suspending(
        pod_label="ray.io/cluster",
        named_by=("status", "rayClusterName"),
        controller=_CONTROLLER,
        rights=(*Patch.rights(RAYJOBS.group, _PLURAL), *Running.rights(RAYJOBS.group, _PLURAL)),
    ),
    notes={"suspend": sentence("Ray deletes its cluster: it begins with a new one when it is resumed.")},
    doubts=_doubts,
)
