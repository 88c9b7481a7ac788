"""Trainings as Jobs of Volcano: one object with all roles, whose pods Volcano's scheduler binds at once.

It has no field that suspends it: Volcano does so for an object of another kind, a Command. So it cannot be suspended
here.
"""

from functools import partial

from commands.execution.steps import Create, Step
from commands.training import manifests
from commands.training.manifests import Object, manifest_name
from commands.training.spec import TrainingRole, TrainingSpec
from commands.training.writing_kind import Launching, WritingKind
from tests.support.vcjob.reading_vcjob import INDEX, job_end
from tests.support.vcjob.watched_vcjob import VCJOBS, VolcanoJob


def _launch(spec: TrainingSpec) -> tuple[Step, ...]:
    made = manifests.top_object(spec, VCJOBS.api, VCJOBS.kind, spec.name)
    made["spec"] = {
        "schedulerName": "volcano",
        "minAvailable": sum(role.replicas for role in spec.roles),
        "maxRetry": spec.backoff,
        "plugins": {"svc": []},
        "tasks": [_task(spec, role) for role in spec.roles],
    }
    roles = " and ".join(role.text() for role in spec.roles)
    return (Create(manifest=made, description=f"create {manifest_name(made)}: {roles}"),)


def _task(spec: TrainingSpec, role: TrainingRole) -> Object:
    number = {
        "name": "TASK_INDEX",
        "valueFrom": {"fieldRef": {"fieldPath": f"metadata.annotations['{INDEX}']"}},
    }
    pod = manifests.pod_spec(spec, role, number, partial(_host, spec))
    template = {**manifests.pod_metadata(spec, role), "spec": {**pod, "restartPolicy": "Never"}}
    return {"name": role.name, "replicas": role.replicas, "template": template}


def _host(spec: TrainingSpec, role: TrainingRole, index: int) -> str:
    return f"{spec.name}-{role.name}-{index}.{spec.name}"


def _has_ended(one: VolcanoJob) -> bool:
    return job_end(one) is not None


KIND = WritingKind(
    objects=VCJOBS,
    has_ended=_has_ended,
    launching=Launching(
        summary="a Job of Volcano with one task per role",
        steps=_launch,
        rights=Create.rights(VCJOBS.group, "jobs"),
    ),
    suspending=None,
    typed="vcjob",
)
