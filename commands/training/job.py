"""Trainings as plain Jobs: workers are one Indexed Job, and each server is a Deployment, so that it keeps its name.

The Services of the roles make `NAME-worker-0.NAME-worker` and `NAME-ps-0.NAME-ps` resolve.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from collectors.cluster.kinds import JOBS
from collectors.cluster.objects import Job
from collectors.facts.sentences import sentence
from collectors.trainings.job import job_end
from commands.execution.object_refs import ObjectRef
from commands.execution.preconditions import Precondition
from commands.execution.steps import Create, Patch, Running, Step
from commands.training import manifests
from commands.training.manifests import INDEX, ROLE, TRAINING_LABEL, Object, manifest_name, role_name
from commands.training.spec import TrainingRole, TrainingSpec
from commands.training.suspend_field import launched, suspending
from commands.training.writing_kind import Launching, Scaling, WritingKind

_JOB_NAME, _JOB_INDEX = "batch.kubernetes.io/job-name", "batch.kubernetes.io/job-completion-index"
_CONTROLLER = "kubernetes.io/job-controller"


def _launch(spec: TrainingSpec) -> tuple[Step, ...]:
    steps: list[Step] = []
    if spec.service_per_task:
        made = (_service(spec, role, index) for role in spec.roles for index in range(role.replicas))
        steps += [
            Create(manifest=one, description=sentence("create {manifest}", manifest=manifest_name(one)))
            for one in made
        ]
    for role in spec.roles:
        for index in range(role.replicas) if role.is_server else ():
            server = _server(spec, role, index)
            steps.append(
                Create(
                    manifest=server,
                    description=sentence(
                        "create {manifest}, a parameter server", manifest=manifest_name(server)
                    ),
                )
            )
    for role in spec.roles:
        if not role.is_server:
            job = _job(spec, role)
            steps += launched(spec, job, role.text())
    return tuple(steps)


def _has_ended(job: Job) -> bool:
    ended, _ = job_end(job)
    return ended is not None


def _host(spec: TrainingSpec, role: TrainingRole, index: int) -> str:
    """Return the task's own Service, or its host name in the Service of the role."""
    of_role = role_name(spec, role)
    return f"{of_role}-{index}" if spec.service_per_task else f"{of_role}-{index}.{of_role}"


def _service(spec: TrainingSpec, role: TrainingRole, index: int) -> Object:
    name = role_name(spec, role)
    selector = (
        {TRAINING_LABEL: spec.name, ROLE: role.name, INDEX: str(index)}
        if role.is_server
        else {_JOB_NAME: name, _JOB_INDEX: str(index)}
    )
    return manifests.service(spec, f"{name}-{index}", selector)


def _server(spec: TrainingSpec, role: TrainingRole, index: int) -> Object:
    """The Deployment of one server. Recreate, or two pods would share its name during an update."""
    name = f"{role_name(spec, role)}-{index}"
    labels = {TRAINING_LABEL: spec.name, ROLE: role.name, INDEX: str(index)}
    made = manifests.top_object(spec, "apps/v1", "Deployment", name, role=role.name)
    number = {"name": "TASK_INDEX", "value": str(index)}
    pod = manifests.pod_spec(spec, role, number, partial(_host, spec))
    metadata = manifests.pod_metadata(spec, role)["metadata"]
    metadata["labels"] |= labels
    metadata["annotations"] |= {INDEX: str(index)}
    made["spec"] = {
        "replicas": 1,
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": labels},
        "template": {
            "metadata": metadata,
            "spec": {**pod, "subdomain": role_name(spec, role), "hostname": name},
        },
    }
    return made


def _job(spec: TrainingSpec, role: TrainingRole) -> Object:
    """The workers' Job, suspended until all other objects exist."""
    name = role_name(spec, role)
    job_spec = manifests.indexed_job(spec, role, partial(_host, spec))
    job_spec["template"]["spec"]["subdomain"] = name
    made = manifests.top_object(spec, JOBS.api, JOBS.kind, name, role=role.name)
    return {**made, "spec": {**job_spec, "suspend": True}}


def _refusal(spec: TrainingSpec) -> str:
    if spec.queue and any(role.is_server for role in spec.roles):
        return sentence(
            "`--ps` with `--queue` is not for Jobs, whose servers would run before the queue admits the workers: "
            "launch with `--kind jobset`."
        )
    return ""


def _workers(job: Job) -> int:
    return job.spec.parallel_tasks


def _not_scaled(job: Job) -> str:
    """Kubernetes lets a Job be elastic that is Indexed, with as many completions as pods at a time."""
    if job.spec.completions is not None and job.spec.completions == job.spec.parallelism:
        return ""
    return sentence("Only an Indexed Job that runs all of its tasks at the same time can be scaled.")


def _scale(ref: ObjectRef, raw: Mapping[str, Any], workers: int) -> Patch:
    before = {key: raw["spec"].get(key) for key in ("parallelism", "completions")}
    return Patch(
        ref=ref,
        description=sentence(
            "change the tasks of {ref} from {before} to {after}",
            ref=str(ref),
            before=before["parallelism"],
            after=workers,
        ),
        body={"spec": dict.fromkeys(before, workers)},
        requires=tuple(Precondition(path=("spec", key), equals=one) for key, one in before.items()),
        undo={"spec": before},
    )


KIND = WritingKind(
    objects=JOBS,
    has_ended=_has_ended,
    launching=Launching(
        summary="an Indexed Job of the workers, and a Deployment of each parameter server",
        steps=_launch,
        rights=(
            *Create.rights("apps", "deployments"),
            *Create.rights("batch", "jobs"),
            *Patch.rights("batch", "jobs"),
        ),
        refusal=_refusal,
    ),
    suspending=suspending(
        pod_label=_JOB_NAME,
        controller=_CONTROLLER,
        rights=(*Patch.rights("batch", "jobs"), *Running.rights("batch", "jobs")),
    ),
    scaling=Scaling(
        workers=_workers,
        step=_scale,
        refusal=_not_scaled,
        note=sentence(
            "Tasks with the highest index are started or ended. Running tasks do not notice: only a training "
            "that is elastic goes on with another number."
        ),
        rights=Patch.rights("batch", "jobs"),
    ),
    notes={"resume": sentence("Its maximum duration, if it has one, starts again.")},
)
