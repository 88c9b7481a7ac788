"""The writer of the jobs of Kubeflow's Training Operator: one object with all roles, and a run policy.

The operator makes a Service for each task, so that `NAME-worker-3` resolves. Absent fields have no defaults in the API:
what the operator would assume is written out. Source: `kubeflow.org/v1`, Training Operator 1.9.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from collectors.cluster.kinds import ResourceKind
from collectors.cluster.operator_jobs import OperatorJob
from collectors.facts.sentences import counted, listed, sentence
from collectors.trainings.operator_job import REPLICA_INDEX, operator_job_end
from commands.core.command import UnusableError
from commands.execution.object_refs import ObjectRef
from commands.execution.preconditions import Precondition, value_at
from commands.execution.steps import Create, Patch, Running, Step
from commands.training import manifests
from commands.training.manifests import Object
from commands.training.spec import KUEUE, VOLCANO, TrainingRole, TrainingSpec
from commands.training.suspend_field import POLICY, launched, suspending
from commands.training.writing_kind import Launching, Scaling, WritingKind

CONTROLLER = "kubeflow.org/training-operator"
JOB_NAME = "training.kubeflow.org/job-name"


def _nothing(_spec: TrainingSpec) -> Object:
    return {}


def _own_service(name: str, role: TrainingRole, index: int) -> str:
    """Return the host name of a task that has a Service of its own."""
    return f"{name}-{role.name}-{index}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorForm:
    """What differs between these jobs. `names`: of the roles in the API; `ports`: the operator adds one without it."""

    objects: ResourceKind[Any]
    summary: str
    specs: str  # the field with the roles
    container: str  # the name by which the operator knows the container of the training
    roles: Callable[[TrainingSpec], tuple[TrainingRole, ...]]
    names: Mapping[str, str]
    port: str = ""
    more: Callable[[TrainingSpec], Object] = _nothing  # further fields of the spec
    index: str = REPLICA_INDEX
    controller: str = CONTROLLER
    tries_again: bool = False  # its controller does, unless a limit of 0 forbids it
    typed: str = ""  # the kind as it is typed, where another has its name already
    host: Callable[[str, TrainingRole, int], str] = _own_service  # from the training's name
    changed_pods: Mapping[str, Object] = field(
        default_factory=dict
    )  # by role: fields of the pod; None leaves one out
    elastic: str = ""  # what its controller makes of a range of workers; empty: their number is fixed
    servers: bool = False  # whether it has parameter servers
    working: frozenset[str] = frozenset(("worker", "master", "chief"))  # the roles that count as workers


def operator_writing(form: OperatorForm) -> WritingKind:
    """Return the kind of these jobs."""
    group, plural = form.objects.group, form.objects.path.rpartition("/")[2]
    return WritingKind(
        objects=form.objects,
        typed=form.typed,
        has_ended=_has_ended,
        launching=Launching(
            summary=form.summary,
            steps=partial(_launch, form),
            rights=(*Create.rights(group, plural), *Patch.rights(group, plural)),
            refusal=partial(_refusal, form),
            roles=form.roles,
            queues=(KUEUE, VOLCANO),
            elastic=form.elastic,
        ),
        suspending=suspending(
            pod_label=JOB_NAME,
            controller=form.controller,
            has_run_policy=True,
            rights=(*Patch.rights(group, plural), *Running.rights(group, plural)),
        ),
        scaling=Scaling(
            workers=partial(_workers, form),
            step=partial(_scale, form),
            refusal=partial(_not_scaled, form),
            note=sentence(
                "Its operator starts or ends the tasks with the highest index. Running tasks do not notice: only a "
                "training that is elastic goes on with another number."
            ),
            rights=Patch.rights(group, plural),
        ),
        reprioritise=_reprioritise,
        notes={
            "resume": sentence("Its maximum duration, if it has one, starts again."),
            "reprioritise": sentence(
                "Only a gang scheduler follows it: it orders the gang by it. The priority of the pods does not change."
            ),
        },
    )


def _launch(form: OperatorForm, spec: TrainingSpec) -> tuple[Step, ...]:
    made = manifests.top_object(spec, form.objects.api, form.objects.kind, spec.name)
    roles = form.roles(spec)
    made["spec"] = {
        "runPolicy": _run_policy(form, spec),
        form.specs: {form.names[role.name]: _replicas(form, spec, role, roles) for role in roles},
        **form.more(spec),
    }
    return launched(spec, made, listed((role.text() for role in roles), "and"), POLICY)


def _run_policy(form: OperatorForm, spec: TrainingSpec) -> Object:
    """The pods that still run when the job has ended are ended with it: parameter servers never end by themselves.

    Training Operator deletes all pods of a job whose limit of retries is exceeded, whatever the policy says: the failed
    one too, with its logs. Without a limit the failure of a pod that is not restarted ends the job just as well.
    """
    policy: Object = {"suspend": True, "cleanPodPolicy": "Running"}
    if spec.backoff or form.tries_again:
        policy["backoffLimit"] = spec.backoff
    if spec.max_duration is not None:
        policy["activeDeadlineSeconds"] = round(spec.max_duration.total_seconds())
    gang: Object = {
        "priorityClass": spec.priority_class,
        "queue": spec.queue if spec.queue_system == VOLCANO else "",
        "minAvailable": spec.workers.least,
    }
    if given := {key: value for key, value in gang.items() if value}:
        policy["schedulingPolicy"] = given
    return policy


def _replicas(
    form: OperatorForm, spec: TrainingSpec, role: TrainingRole, roles: tuple[TrainingRole, ...]
) -> Object:
    number = {"fieldRef": {"fieldPath": f"metadata.labels['{form.index}']"}}
    shaped = replace(spec, roles=roles)
    pod = manifests.pod_spec(
        shaped, role, {"name": "TASK_INDEX", "valueFrom": number}, partial(form.host, spec.name)
    )
    (container,) = pod["containers"]
    container["name"] = form.container
    if form.port:
        container["ports"][0]["name"] = form.port
    for variable in container["env"]:
        if variable["name"] == "WORKERS":
            variable["value"] = str(spec.workers.replicas)  # whatever the kind calls the first of them
    pod = {**pod, **form.changed_pods.get(role.name, {})}
    template = {**manifests.pod_metadata(spec, role), "spec": {k: v for k, v in pod.items() if v is not None}}
    return {
        "replicas": role.replicas,
        "restartPolicy": "OnFailure" if spec.backoff else "Never",
        "template": template,
    }


def _refusal(form: OperatorForm, spec: TrainingSpec) -> str:
    kind = form.objects.kind
    if spec.service_per_task:
        return sentence(
            "`--service-per-task` is not for {kind}s: their operator makes a Service for each task.",
            kind=kind,
        )
    if not form.servers and any(role.is_server for role in spec.roles):
        return sentence(
            "`--ps` is not for {kind}s, which have no parameter servers: launch with `--kind tfjob`.",
            kind=kind,
        )
    return ""


def _has_ended(one: OperatorJob) -> bool:
    ended, _ = operator_job_end(one.status)
    return ended is not None


def _workers(form: OperatorForm, one: OperatorJob) -> int:
    """Return how many tasks do the work: a master is the first of them."""
    return sum(role.count for name, role in one.spec.roles.items() if name.lower() in form.working)


def _not_scaled(form: OperatorForm, one: OperatorJob) -> str:
    if any(name.lower() == "worker" for name in one.spec.roles):
        return ""
    return sentence(
        "It has no workers besides the master, and {kind}s cannot get any later: launch it again with `--workers`.",
        kind=form.objects.kind,
    )


def _scale(form: OperatorForm, ref: ObjectRef, raw: Mapping[str, Any], workers: int) -> Patch:
    specs = raw["spec"][form.specs]
    others = sum(
        one.get("replicas", 1)
        for name, one in specs.items()
        if name.lower() in form.working and name.lower() != "worker"
    )
    name = next(name for name in specs if name.lower() == "worker")
    before = specs[name].get("replicas", 1)
    _check_range(raw, workers)
    after = workers - others
    if after < 0:
        raise UnusableError(
            counted(
                "It has {count} master, which stays.", "It has {count} masters, which stay.", count=others
            )
        )
    return Patch(
        ref=ref,
        description=sentence(
            "change the workers of {ref} from {before} to {after}", ref=str(ref), before=before, after=after
        ),
        body=_replicas_of(form, name, after),
        requires=(
            Precondition(path=("spec", form.specs, name, "replicas"), equals=specs[name].get("replicas")),
        ),
        undo=_replicas_of(form, name, before),
    )


def _check_range(raw: Mapping[str, Any], workers: int) -> None:
    """Raise UnusableError for a number of workers outside the range of an elastic job."""
    policy = raw["spec"].get("elasticPolicy") or {}
    least, most = policy.get("minReplicas"), policy.get("maxReplicas")
    if least is not None and most is not None and not least <= workers <= most:
        raise UnusableError(
            sentence(
                "It is elastic: it runs with {least} to {most} workers, and with no other number.",
                least=least,
                most=most,
            )
        )


def _replicas_of(form: OperatorForm, name: str, count: int) -> dict[str, Any]:
    return {"spec": {form.specs: {name: {"replicas": count}}}}


def _reprioritise(ref: ObjectRef, raw: Mapping[str, Any], priority: str) -> Patch:
    path = ("spec", "runPolicy", "schedulingPolicy", "priorityClass")
    before = value_at(raw, path)
    return Patch(
        ref=ref,
        description=sentence("give the gang of {ref} priority {priority}", ref=str(ref), priority=priority),
        body={"spec": {"runPolicy": {"schedulingPolicy": {"priorityClass": priority}}}},
        requires=(Precondition(path=path, equals=before),),
        undo={"spec": {"runPolicy": {"schedulingPolicy": {"priorityClass": before}}}},
    )
