"""The steps of a launch that every kind has, and the tasks that it schedules."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from collectors.cluster.resources import parse_quantity
from collectors.facts.sentences import counted, sentence
from collectors.trainings.training import TrainingState
from commands.execution.object_refs import ObjectRef
from commands.execution.object_state import ObjectState
from commands.execution.record_steps import record
from commands.execution.steps import Create, Step
from commands.models import Launch
from commands.training import manifests
from commands.training.manifests import manifest_name
from commands.training.placement import TaskRequest
from commands.training.spec import TrainingSpec
from commands.training.writing_kind import Launching

UNDONE = sentence("its launch was undone")


def task_requests(spec: TrainingSpec) -> tuple[TaskRequest, ...]:
    """Return the tasks to schedule, servers first: the workers need them."""
    return tuple(
        TaskRequest(
            role=role.name,
            count=role.replicas,
            amounts={name: parse_quantity(one) for name, one in role.resources.items()},
            node_selector=spec.node_selector,
            tolerates=role.tolerates | set(spec.tolerations),
            not_on=spec.not_on,
        )
        for role in sorted(spec.roles, key=lambda role: not role.is_server)
    )


def create_namespace(spec: TrainingSpec) -> Create:
    return Create(
        manifest=manifests.namespace(spec),
        description=sentence("create namespace {namespace}", namespace=spec.namespace),
    )


def launch_steps(
    kind: Launching,
    spec: TrainingSpec,
    *,
    has_namespace: bool,
    has_secret: bool,
    of_queue: tuple[Step, ...] = (),
) -> tuple[Step, ...]:
    """Return the steps that create all objects; the workers start last."""
    steps: list[Step] = []
    if not has_namespace:
        steps.append(create_namespace(spec))
    if spec.pull_secret and not has_secret:
        place, _, name = spec.pull_secret.partition("/")
        steps.append(
            Create(
                manifest=manifests.pull_secret(spec),
                description=sentence(
                    "copy the pull secret {name} from {namespace}", name=name, namespace=place
                ),
                is_secret=True,
                copies=ObjectRef(api="v1", kind="Secret", namespace=place, name=name),
            )
        )
    if spec.script_text:
        lines = spec.script_text.count("\n") + 1
        made = manifests.script(spec)
        steps.append(
            Create(
                manifest=made,
                description=counted(
                    "store the script ({count} line) as {manifest}",
                    "store the script ({count} lines) as {manifest}",
                    count=lines,
                    manifest=manifest_name(made),
                ),
            )
        )
    steps += [
        Create(manifest=one, description=sentence("create {manifest}", manifest=manifest_name(one)))
        for one in manifests.services(replace(spec, roles=kind.roles(spec)))
    ]
    return (*steps, *of_queue, *kind.steps(spec))


def note_launch(
    steps: Sequence[Step],
    spec: TrainingSpec,
    *,
    cluster: str,
    now: datetime,
    channel: str,
    thread: str,
    by_name: str,
) -> Step:
    """Return the step that records a launch by these steps, so that its state is reported in the thread.

    The undo keeps it as over, so that its card says what came of it, once its top objects are gone.
    """
    row = Launch(
        id=f"{cluster}/{spec.key}",
        cluster=cluster,
        training=spec.key,
        name=spec.id,
        by=spec.launched_by,
        by_name=by_name,
        at=now,
        channel=channel,
        thread=thread,
    )
    made = [step.ref for step in steps if isinstance(step, Create)]
    over = replace(row, is_over=True, reported_state=TrainingState.STOPPED.value, reported_reason=UNDONE)
    return record(
        "launches",
        row,
        text=sentence("report how the training goes"),
        before=over,
        undo_text=sentence("say on its card that the launch was undone"),
        about=(ObjectState(ref=ref) for ref in made),
        about_undone=(ObjectState(ref=ref, is_gone=True) for ref in made),
    )
