"""This file plans the launch of a training: an order from the line, its place, whether it fits, the steps."""

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from pathlib import PurePosixPath

from collectors.cluster.inventory import Inventory
from collectors.facts.results import SourceError
from commands.core.command import PlanDraft, UnusableError
from commands.core.context import CommandContext, ObjectReader
from commands.plans.steps import ObjectRef
from commands.training import job
from commands.training.manifests import MANAGED_BY, OURS, TRAINING
from commands.training.placement import Placement, node_capacities, place
from commands.training.spec import TrainingSpec, check, script_of
from commands.training.unschedulable import remedies_for, unschedulable_reasons


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchTraining:
    """The words of `training launch`; `extra` are those after `--`."""

    name: str
    image: str
    namespace: str
    workers: int
    gpus: float
    gpu_resource: str
    cpu: str
    memory: str
    ps: int
    script: str
    team: str
    priority_class: str
    max_duration: timedelta | None
    backoff: int
    node_selector: tuple[str, ...]
    metrics_port: int
    service_per_task: bool
    wait: bool
    extra: tuple[str, ...] = ()


async def launch(action: LaunchTraining, context: CommandContext) -> PlanDraft:
    """The steps that make the training, if its name is free and its tasks fit. Raises UnusableError otherwise."""
    spec = spec_of(action, context)
    check(spec, images=context.defaults.training_images)
    if (reader := context.cluster.reader) is None:
        raise UnusableError(f"The settings give no access to Kubernetes for {context.cluster.name}.")
    has_namespace = await _has_namespace(spec, context, reader)
    has_secret = has_namespace and await _has_secret(spec, reader)
    if spec.pull_secret and not has_secret:
        await _check_source(spec, reader)
    notes = _place(spec, context.cluster.inventory(), may_wait=action.wait)
    async with context.store.unit() as unit:
        before = await unit.launches.get(f"{context.cluster.name}/{spec.id}")
    steps = (
        *job.launch(spec, has_namespace=has_namespace, has_secret=has_secret),
        job.note_launch(
            spec,
            cluster=context.cluster.name,
            now=context.now,
            channel=context.origin.channel,
            thread=context.origin.thread,
            by_name=context.actor.name,
            before=before,
        ),
    )
    if spec.team and spec.team not in context.actor.teams:
        notes.append(f"It is launched for team {spec.team}, in which you are not.")
    gpus = f", {spec.workers * spec.gpus:g} {spec.gpu_resource}" if spec.gpus else ""
    title = f"Launch {spec.id}: {spec.workers} worker{'s' if spec.workers != 1 else ''}{gpus}"
    return PlanDraft(title=title, steps=steps, notes=tuple(notes), is_fixed=bool(spec.script_text))


def spec_of(action: LaunchTraining, context: CommandContext) -> TrainingSpec:
    """The order that the line and what came with it amount to."""
    pairs = [word.partition("=") for word in action.node_selector]
    if wrong := next((key for key, sign, _ in pairs if not sign), None):
        raise UnusableError(f"`--node-selector {wrong[:60]}`: write it like pool=large.")
    teams, owners = sorted(context.actor.teams), context.defaults.owners
    return TrainingSpec(
        name=action.name,
        namespace=action.namespace or action.name,
        image=action.image,
        workers=action.workers,
        gpus=action.gpus,
        gpu_resource=action.gpu_resource,
        cpu=action.cpu,
        memory=action.memory,
        servers=action.ps,
        script="" if context.uploads else action.script,
        script_text=_script(action.script, context),
        arguments=action.extra,
        team=action.team or (teams[0] if len(teams) == 1 else ""),
        owner=next((name for name, id in owners.items() if id == context.actor.id), context.actor.name),
        launched_by=context.actor.id,
        priority_class=action.priority_class,
        max_duration=action.max_duration,
        backoff=action.backoff,
        node_selector={key: value for key, _, value in pairs},
        service_per_task=action.service_per_task,
        metrics_port=action.metrics_port,
        pull_secret=context.defaults.pull_secret,
    )


def _script(path: str, context: CommandContext) -> str:
    if not context.uploads:
        return ""
    if len(context.uploads) > 1:
        names = ", ".join(upload.name for upload in context.uploads[:5])
        raise UnusableError(
            f"There are {len(context.uploads)} files with this line ({names}): I take one script."
        )
    (upload,) = context.uploads
    if path and PurePosixPath(path).name != upload.name:
        raise UnusableError(
            f"`--script {path[:60]}` names a file of the image and {upload.name} came with the line: which one?"
        )
    return script_of(upload.content)


async def _has_namespace(spec: TrainingSpec, context: CommandContext, reader: ObjectReader) -> bool:
    """False: to be created. True: ours and empty, from an earlier run. Raises UnusableError for any other."""
    found = await reader.read(ObjectRef(api="v1", kind="Namespace", name=spec.namespace))
    training = next((one for one in context.cluster.trainings() if one.id == spec.id), None)
    if training is not None and training.workloads:
        doing = f"is there already ({training.state.value})"
        raise UnusableError(
            f"Training `{training.id}` {doing}: see `training show {training.id}`; "
            f"`training stop {training.id}` clears it away."
        )
    if found is None:
        return False
    labels = found["metadata"].get("labels") or {}
    if found["metadata"].get("deletionTimestamp"):
        raise UnusableError(f"Namespace `{spec.namespace}` is still being deleted: try again in a moment.")
    if labels.get(MANAGED_BY) != OURS or labels.get(TRAINING) != spec.name:
        raise UnusableError(
            f"Namespace `{spec.namespace}` is there already and not ours to use: choose another `--namespace`."
        )
    return True


async def _has_secret(spec: TrainingSpec, reader: ObjectReader) -> bool:
    """Whether the copy from an earlier run is seen. It seldom may be: what is not seen is made, or is there then."""
    name = spec.pull_secret.partition("/")[2]
    if not name:
        return False
    secret = ObjectRef(api="v1", kind="Secret", namespace=spec.namespace, name=name)
    try:
        return await reader.read(secret) is not None
    except SourceError as error:
        if error.status == 403:
            return False
        raise


async def _check_source(spec: TrainingSpec, reader: ObjectReader) -> None:
    place, _, name = spec.pull_secret.partition("/")
    if not place or not name:
        raise UnusableError(
            f"The settings' pull secret `{spec.pull_secret}` should be written namespace/name: "
            "ask whoever runs Yardmaster."
        )
    found = await reader.read(ObjectRef(api="v1", kind="Secret", namespace=place, name=name))
    if found is None:
        raise UnusableError(f"The pull secret `{spec.pull_secret}` that new trainings get is not there.")
    if found.get("type") != "kubernetes.io/dockerconfigjson":
        raise UnusableError(f"`{spec.pull_secret}` is no pull secret: its type is {found.get('type')}.")


def _place(spec: TrainingSpec, inventory: Inventory, *, may_wait: bool) -> list[str]:
    """What to tell of its place. Raises UnusableError when there is none and nobody wants to wait."""
    tasks = job.task_requests(spec)
    capacities = node_capacities(inventory, [name for task in tasks for name in task.amounts])
    placement = place(tasks, capacities)
    if placement.is_whole:
        return [f"It fits now, for example on {_where(placement)}."]
    reason = f"{unschedulable_reasons(placement)}."
    help_ = remedies_for(tasks, capacities, placement)
    if not may_wait:
        said = f" What would help: {'; '.join(help_)}." if help_ else ""
        raise UnusableError(f"It does not fit: {reason}{said} `--wait` launches it anyway, to wait for room.")
    return [
        f"It does not fit now: {reason} Tasks that find a place hold it while the others wait.",
        *help_,
    ]


def _where(placement: Placement, at_most: int = 6) -> str:
    on: Counter[str] = Counter()
    for _, node, count in placement.placed:
        on[node] += count
    names = [f"{node} ({count})" if count > 1 else node for node, count in sorted(on.items())]
    return ", ".join(names[:at_most]) + (f" and {len(names) - at_most} more" if len(names) > at_most else "")
