"""Planning of a launch: the spec from the command line, its checks, and the steps."""

from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import PurePosixPath

from collectors.facts.sentences import counted, listed, sentence
from commands.core.command import PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.lookups import reader_of
from commands.core.number_range import NumberRange
from commands.execution.plan import in_order
from commands.training.fit import fit_notes
from commands.training.launch_checks import (
    check_needed,
    check_pull_secret,
    check_used,
    elastic_notes,
    is_namespace_ours,
    is_secret_copied,
    served_kind,
    unfit,
)
from commands.training.launch_steps import launch_steps, note_launch
from commands.training.manifests import SCRIPT_FOLDER, SCRIPT_NAME
from commands.training.priority import preemption_note
from commands.training.queues import queued
from commands.training.spec import TrainingRole, TrainingSpec
from commands.training.spec_checks import check_spec, script_of
from commands.training.spec_file import GivenSpec
from commands.training.training_kinds import BY_OPTION
from commands.training.training_runs import runs_like, usual_run


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchTraining:
    """The arguments of `training launch`; `extra` are the words after `--`."""

    name: str
    kind: str
    image: str
    namespace: str
    workers: NumberRange
    gpus: float
    gpu_resource: str
    cpu: str
    memory: str
    ps: int
    script: str
    team: str
    priority_class: str
    queue: str
    queue_priority: str
    max_duration: timedelta | None
    backoff: int
    node_selector: tuple[str, ...]
    not_on: tuple[str, ...]
    metrics_port: int
    service_per_task: bool
    wait: bool
    runtime: str = ""
    like: str = ""
    spec: bool = False
    as_object: bool = False
    extra: tuple[str, ...] = ()


async def launch(
    action: LaunchTraining, context: CommandContext, given: GivenSpec | None = None
) -> PlanDraft:
    """Plan to create the training, with what a file gives of it.

    Raises UnusableError if its name is taken or its tasks do not fit.
    """
    spec = (given or GivenSpec()).applied_to(spec_of(action, context))
    check_spec(spec, images=context.defaults.training_images)
    reader = reader_of(context)
    check_used(BY_OPTION[action.kind], context.defaults.training_kinds)
    kind, notes = await served_kind(BY_OPTION[action.kind], spec, reader)
    assert kind.launching is not None  # there are no others by their options
    if refusal := unfit(kind, kind.launching, spec):
        raise UnusableError(refusal)
    await check_needed(kind.launching, spec, reader)
    has_namespace = await is_namespace_ours(spec, context, reader)
    has_secret = has_namespace and await is_secret_copied(spec, reader)
    if spec.pull_secret and not has_secret:
        await check_pull_secret(spec, reader)
    in_queue = await queued(spec, kind.launching, context, reader)
    spec = in_queue.spec
    if refusal := unfit(kind, kind.launching, spec):  # also by its queue, which is known now
        raise UnusableError(refusal)
    notes += [*in_queue.notes, *await fit_notes(spec, context, may_wait=action.wait or bool(spec.queue))]
    notes += elastic_notes(kind.launching, spec)
    notes += await _usual(spec, action.like, context)
    if spec.priority_class:
        notes.append(await preemption_note(spec.priority_class, reader))
    steps = (
        *launch_steps(
            kind.launching,
            spec,
            has_namespace=has_namespace,
            has_secret=has_secret,
            of_queue=in_queue.steps,
        ),
        note_launch(
            kind.launching.steps(spec),
            spec,
            cluster=context.cluster.name,
            now=context.now,
            channel=context.origin.channel,
            thread=context.origin.thread,
            by_name=context.actor.name,
        ),
    )
    if spec.team and spec.team not in context.actor.teams:
        notes.append(
            sentence("It is launched for team {team}, and you are not in that team.", team=spec.team)
        )
    return PlanDraft(
        title=_title(spec), stages=in_order(*steps), notes=tuple(notes), is_fixed=bool(spec.script_text)
    )


def _title(spec: TrainingSpec) -> str:
    workers = spec.workers
    if workers.least:
        return sentence(
            "Launch {training}: {least} to {most} workers, each with {gpus:g} {resource}",
            training=spec.id,
            least=workers.least,
            most=workers.replicas,
            gpus=workers.gpus,
            resource=workers.gpu_resource,
        )
    title = counted(
        "Launch {training}: {count} worker",
        "Launch {training}: {count} workers",
        training=spec.id,
        count=workers.replicas,
    )
    if not workers.gpus:
        return title
    return sentence(
        "{launch}, {gpus:g} {resource}",
        launch=title,
        gpus=workers.replicas * workers.gpus,
        resource=workers.gpu_resource,
    )


async def _usual(spec: TrainingSpec, like: str, context: CommandContext) -> list[str]:
    """Return how long its like took, or that of the training that it is launched like, and what ends it before."""
    names = [f"{spec.namespace}/{spec.name}"]
    if like:
        names += [like] if "/" in like else [f"{spec.namespace}/{like}", f"{like}/{like}"]
    gpus = sum(role.replicas * role.gpus for role in spec.roles)
    async with context.store.read() as snapshot:
        runs = await runs_like(names, context.cluster.name, context.cluster.trainings(), snapshot)
    usual = next((found for name in names if (found := usual_run(name, gpus, runs)) is not None), None)
    if usual is None:
        return []
    if spec.max_duration is not None and usual.most > spec.max_duration:
        return [
            sentence(
                "{usual}. `--max-duration` would have ended some of them.",
                usual=usual.text(),
            )
        ]
    return [sentence("{usual}.", usual=usual.text())]


def spec_of(action: LaunchTraining, context: CommandContext) -> TrainingSpec:
    """Return the training's spec from the arguments and the uploaded script."""
    pairs = [given.partition("=") for given in action.node_selector]
    if invalid := next((key for key, sign, _ in pairs if not sign), None):
        raise UnusableError(
            sentence("`--node-selector {given}`: write it like pool=large.", given=invalid[:60])
        )
    teams, owners = sorted(context.actor.teams), context.defaults.owners
    script_text = _script(action.script, context)
    path = f"{SCRIPT_FOLDER}/{SCRIPT_NAME}" if script_text else action.script
    tasks = TrainingRole(
        name="worker",
        replicas=action.workers.most,
        least=action.workers.least if action.workers.least < action.workers.most else 0,
        gpus=action.gpus,
        gpu_resource=action.gpu_resource,
        cpu=action.cpu,
        memory=action.memory,
        command=("bash", path) if path else (),
        arguments=action.extra,
    )
    servers = replace(tasks, name="ps", replicas=action.ps, least=0, gpus=0, is_server=True)
    return TrainingSpec(
        name=action.name,
        namespace=action.namespace or action.name,
        image=action.image,
        roles=(tasks, servers) if action.ps else (tasks,),
        script_text=script_text,
        team=action.team or (teams[0] if len(teams) == 1 else ""),
        owner=next((name for name, id in owners.items() if context.actor.is_one(id)), context.actor.name),
        launched_by=context.actor.person,
        priority_class=action.priority_class,
        queue=action.queue,
        queue_priority=action.queue_priority,
        max_duration=action.max_duration,
        backoff=action.backoff,
        runtime=action.runtime,
        node_selector={key: value for key, _, value in pairs},
        not_on=action.not_on,
        service_per_task=action.service_per_task,
        metrics_port=action.metrics_port,
        pull_secret=context.defaults.pull_secret,
    )


def _script(path: str, context: CommandContext) -> str:
    if not context.uploads:
        return ""
    if len(context.uploads) > 1:
        raise UnusableError(
            sentence(
                "You uploaded {number} files ({names}): upload only one script.",
                number=len(context.uploads),
                names=listed(upload.name for upload in context.uploads[:5]),
            )
        )
    (upload,) = context.uploads
    if path and PurePosixPath(path).name != upload.name:
        raise UnusableError(
            sentence(
                "`--script {path}` names a file in the image, but you also uploaded {upload}: use only one.",
                path=path[:60],
                upload=upload.name,
            )
        )
    return script_of(upload.content)
