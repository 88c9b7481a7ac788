"""Trainings as Jobs of Volcano: one object with all roles, whose pods Volcano's scheduler binds at once.

It has no field that suspends it: Volcano does so for an object of another kind, a Command. Each resume counts as one of
its retries. Source: `batch.volcano.sh/v1alpha1` and `bus.volcano.sh/v1alpha1`, Volcano 1.15.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from collectors.cluster.kinds import VCJOBS
from collectors.cluster.objects import VolcanoJob
from collectors.facts.sentences import listed, sentence
from collectors.trainings.vcjob import HELD, TASK_NUMBER, vcjob_end
from commands.core.command import UnusableError
from commands.execution.object_refs import ObjectRef
from commands.execution.preconditions import Precondition
from commands.execution.rights import Right
from commands.execution.steps import Create, Order, Patch, Running, Step
from commands.training import manifests
from commands.training.manifests import Object, manifest_name
from commands.training.spec import VOLCANO, TrainingRole, TrainingSpec
from commands.training.writing_kind import Launching, Scaling, Suspending, WritingKind

_COMMANDS = "bus.volcano.sh/v1alpha1"
_PHASE = ("status", "state", "phase")
_LIVE = ("Pending", "Running", "Restarting")
_RETRIES = 100  # where no task is tried again, so that only resumes count


def _launch(spec: TrainingSpec) -> tuple[Step, ...]:
    """It cannot be created suspended, so it is the last to be created.

    A task that fails fails the training, or restarts all of it as often as was asked. The workers' end is its end, so
    that parameter servers end too.
    """
    made = manifests.top_object(spec, VCJOBS.api, VCJOBS.kind, spec.name)
    failed = {"event": "PodFailed", "action": "RestartJob" if spec.backoff else "TerminateJob"}
    made["spec"] = {
        "schedulerName": "volcano",
        "minAvailable": sum(role.needed for role in spec.roles),
        "maxRetry": spec.backoff + 1 if spec.backoff else _RETRIES,
        "policies": [failed, {"event": "PodEvicted", "action": "RestartJob"}],
        "plugins": {"svc": []},
        "tasks": [_task(spec, role) for role in spec.roles],
        **({"queue": spec.queue} if spec.queue else {}),
        **({"priorityClassName": spec.priority_class} if spec.priority_class else {}),
    }
    roles = listed((role.text() for role in spec.roles), "and")
    said = sentence("create {manifest}: {tasks}", manifest=manifest_name(made), tasks=roles)
    return (Create(manifest=made, description=said),)


def _task(spec: TrainingSpec, role: TrainingRole) -> Object:
    number = {
        "name": "TASK_INDEX",
        "valueFrom": {"fieldRef": {"fieldPath": f"metadata.annotations['{TASK_NUMBER}']"}},
    }
    pod = manifests.pod_spec(spec, role, number, partial(_host, spec))
    template = {**manifests.pod_metadata(spec, role), "spec": {**pod, "restartPolicy": "Never"}}
    made: Object = {"name": role.name, "replicas": role.replicas, "template": template}
    if role.least:
        made["minAvailable"] = role.least
    if not role.is_server:
        made["policies"] = [{"event": "TaskCompleted", "action": "CompleteJob"}]
    return made


def _host(spec: TrainingSpec, role: TrainingRole, index: int) -> str:
    return f"{spec.name}-{role.name}-{index}.{spec.name}"


def _refusal(spec: TrainingSpec) -> str:
    if spec.max_duration is not None:
        return sentence(
            "`--max-duration` is not for Jobs of Volcano, which have no such limit: launch with `--kind job` or "
            "`--kind jobset`."
        )
    if spec.service_per_task:
        return sentence(
            "`--service-per-task` is not for Jobs of Volcano: their tasks have host names of their own, such as "
            "{host}.",
            host=_host(spec, spec.workers, 0),
        )
    return ""


def _command(ref: ObjectRef, action: str) -> Object:
    """Return the Command. Its name is its action's, so that it is given once."""
    owner: Object = {"apiVersion": ref.api, "kind": ref.kind, "name": ref.name, "uid": ref.uid}
    name = f"{ref.name}-{action.lower()}"
    return {
        "apiVersion": _COMMANDS,
        "kind": "Command",
        "metadata": {"name": name, "namespace": ref.namespace, "ownerReferences": [owner]},
        "target": owner,
        "action": action,
    }


def _suspend(ref: ObjectRef, _back: Running) -> Order:
    return Order(
        ref=ref,
        description=sentence(
            "suspend {ref} by a Command: its pods end, and undo restarts them", ref=str(ref)
        ),
        manifest=_command(ref, "AbortJob"),
        path=_PHASE,
        before=_LIVE,
        after=HELD,
        back=_command(ref, "ResumeJob"),
        undo_text=sentence("resume {ref} by a Command: its pods start again", ref=str(ref)),
    )


def _resume(ref: ObjectRef) -> Order:
    return Order(
        ref=ref,
        description=sentence("resume {ref} by a Command: its pods start again", ref=str(ref)),
        manifest=_command(ref, "ResumeJob"),
        path=_PHASE,
        before=("Aborted",),
        after=_LIVE,
        back=_command(ref, "AbortJob"),
        undo_text=sentence("suspend {ref} by a Command: its pods end", ref=str(ref)),
    )


def _is_suspended(one: VolcanoJob) -> bool:
    return one.status.state.phase in HELD


def _managed_by(_one: VolcanoJob) -> str:
    return ""


def _has_ended(one: VolcanoJob) -> bool:
    ended, _ = vcjob_end(one)
    return ended is not None


def _left(one: VolcanoJob) -> int:
    """Return how often it may be resumed: the retry that reaches the limit fails it."""
    return max(one.spec.max_retry - 1 - one.status.retry_count, 0)


def _doubts(verb: str, one: VolcanoJob) -> str:
    """Say what a resume costs, before a suspension too: one that cannot be resumed is as good as ended."""
    if verb == "suspend" and not _left(one):
        return sentence(
            "It cannot be resumed: Volcano counts a resume as a retry, and it has none left ({count} of {most}). "
            "Undoing this plan would fail it.",
            count=one.status.retry_count,
            most=one.spec.max_retry,
        )
    if verb in ("suspend", "resume"):
        return sentence(
            "Volcano counts each resume as a retry: {count} of {most} are used, and the one that reaches the limit "
            "fails it.",
            count=one.status.retry_count,
            most=one.spec.max_retry,
        )
    return ""


def _resume_refusal(one: VolcanoJob) -> str:
    if _left(one):
        return ""
    return sentence(
        "Volcano counts a resume as a retry, and this one would reach the limit ({count} of {most}): it would fail. "
        "`training stop` it, and launch it again from its last checkpoint.",
        count=one.status.retry_count,
        most=one.spec.max_retry,
    )


def _workers(one: VolcanoJob) -> int:
    tasks = one.spec.tasks or ()
    return tasks[0].replicas if tasks else 0


def _not_scaled(one: VolcanoJob) -> str:
    return "" if one.spec.tasks else sentence("It has no tasks.")


def _scale(ref: ObjectRef, raw: Mapping[str, Any], workers: int) -> Patch:
    """The first task does the work. The gang is changed with it, or the scheduler would wait for those that left."""
    tasks, least = raw["spec"]["tasks"], raw["spec"].get("minAvailable", 0)
    before = tasks[0].get("replicas", 1)
    enough = tasks[0].get("minAvailable", before)
    if enough < before and workers < enough:
        raise UnusableError(
            sentence(
                "It is elastic and needs {least} or more workers: with fewer, Volcano ends it.", least=enough
            )
        )
    if (gang := least if enough < before else least + workers - before) < 1:
        raise UnusableError(sentence("Its gang would be empty."))
    return Patch(
        ref=ref,
        description=sentence(
            "change task {task} of {ref} from {before} to {after}, and its gang with it",
            task=tasks[0]["name"],
            ref=str(ref),
            before=before,
            after=workers,
        ),
        body={"spec": {"tasks": [{**tasks[0], "replicas": workers}, *tasks[1:]], "minAvailable": gang}},
        requires=(
            Precondition(path=("spec", "tasks"), equals=tasks),
            Precondition(path=("spec", "minAvailable"), equals=least),
        ),
        undo={"spec": {"tasks": tasks, "minAvailable": least}},
    )


def _reprioritise(ref: ObjectRef, raw: Mapping[str, Any], priority: str) -> Patch:
    before = raw["spec"].get("priorityClassName")
    return Patch(
        ref=ref,
        description=sentence("give the gang of {ref} priority {priority}", ref=str(ref), priority=priority),
        body={"spec": {"priorityClassName": priority}},
        requires=(Precondition(path=("spec", "priorityClassName"), equals=before),),
        undo={"spec": {"priorityClassName": before}},
    )


_PLURAL = VCJOBS.path.rpartition("/")[2]
_PATCH = Patch.rights(VCJOBS.group, _PLURAL)

KIND = WritingKind(
    objects=VCJOBS,
    has_ended=_has_ended,
    launching=Launching(
        summary="a Job of Volcano with one task per role; the parameter servers end with the workers",
        steps=_launch,
        rights=Create.rights(VCJOBS.group, _PLURAL),
        refusal=_refusal,
        queues=(VOLCANO,),
        starts_suspended=False,
        elastic=sentence(
            "Volcano starts it once there is room for enough workers, and starts the others as room allows."
        ),
    ),
    suspending=Suspending(
        is_suspended=_is_suspended,
        step=_suspend,
        resume=_resume,
        resume_refusal=_resume_refusal,
        pod_label="volcano.sh/job-name",
        managed_by=_managed_by,
        rights=(
            *Order.rights("bus.volcano.sh", "commands"),
            Right(group=VCJOBS.group, resources=(_PLURAL,), verbs=("get",)),
        ),
    ),
    scaling=Scaling(
        workers=_workers,
        step=_scale,
        refusal=_not_scaled,
        note=sentence(
            "Volcano starts or ends the tasks with the highest index. Running tasks do not notice: only a "
            "training that "
            "is elastic goes on with another number."
        ),
        rights=_PATCH,
    ),
    reprioritise=_reprioritise,
    notes={
        "reprioritise": sentence(
            "Volcano orders the gang by it; the priority of the pods that are there does not change."
        )
    },
    doubts=_doubts,
    typed="vcjob",
)
