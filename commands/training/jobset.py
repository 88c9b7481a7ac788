"""Trainings as JobSets: one object with all roles. Source: `jobset.x-k8s.io/v1alpha2`, JobSet 0.12.

A JobSet's controller creates the Service that makes `NAME-worker-0-3.NAME` resolve. What its webhooks would fill in is
written out, so that a launch means the same without them.
"""

from functools import partial

from collectors.cluster.kinds import JOBSETS
from collectors.cluster.objects import JobSet
from collectors.facts.sentences import listed, sentence
from collectors.trainings.jobset import jobset_end
from commands.execution.steps import Create, Patch, Running, Step
from commands.training import manifests
from commands.training.manifests import Object
from commands.training.spec import TrainingRole, TrainingSpec
from commands.training.suspend_field import launched, suspending
from commands.training.writing_kind import Launching, WritingKind

_GROUP, _PLURAL = JOBSETS.group, "jobsets"
_CONTROLLER = "jobset.sigs.k8s.io/jobset-controller"


def _launch(spec: TrainingSpec) -> tuple[Step, ...]:
    made = manifests.top_object(spec, JOBSETS.api, JOBSETS.kind, spec.name)
    made["spec"] = {
        "suspend": True,
        "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True, "subdomain": spec.name},
        # The servers end when the workers have ended.
        "successPolicy": {
            "operator": "All",
            "targetReplicatedJobs": [role.name for role in spec.roles if not role.is_server],
        },
        "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
        "replicatedJobs": [_replicated_job(spec, role) for role in spec.roles],
    }
    return launched(spec, made, listed((role.text() for role in spec.roles), "and"))


def _replicated_job(spec: TrainingSpec, role: TrainingRole) -> Object:
    """One Job of all tasks of the role."""
    metadata = manifests.pod_metadata(spec, role)["metadata"]
    job = manifests.indexed_job(spec, role, partial(_host, spec))
    return {
        "name": role.name,
        "groupName": "default",
        "replicas": 1,
        "template": {"metadata": metadata, "spec": job},
    }


def _host(spec: TrainingSpec, role: TrainingRole, index: int) -> str:
    return f"{spec.name}-{role.name}-0-{index}.{spec.name}"


def _refusal(spec: TrainingSpec) -> str:
    if spec.service_per_task:
        example = _host(spec, spec.workers, 0)
        return sentence(
            "`--service-per-task` is not for JobSets: their tasks have host names of their own, "
            "such as {host}.",
            host=example,
        )
    return ""


def _has_ended(jobset: JobSet) -> bool:
    return jobset_end(jobset) is not None


KIND = WritingKind(
    objects=JOBSETS,
    has_ended=_has_ended,
    launching=Launching(
        summary="a JobSet with one Indexed Job per role; the parameter servers end with the workers",
        steps=_launch,
        rights=(*Create.rights(_GROUP, _PLURAL), *Patch.rights(_GROUP, _PLURAL)),
        refusal=_refusal,
    ),
    suspending=suspending(
        pod_label="jobset.sigs.k8s.io/jobset-name",
        controller=_CONTROLLER,
        rights=(*Patch.rights(_GROUP, _PLURAL), *Running.rights(_GROUP, _PLURAL)),
    ),
)
