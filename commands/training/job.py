"""Trainings as plain Jobs: the steps to launch, stop and suspend one."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import DEPLOYMENTS, JOBS, STATEFULSETS, ResourceKind
from collectors.cluster.objects import KubernetesObject
from collectors.cluster.resources import parse_quantity
from collectors.trainings.training import Training
from commands.models import Launch
from commands.plans.object_refs import ObjectRef
from commands.plans.preconditions import Precondition
from commands.plans.record_steps import record
from commands.plans.steps import Create, Delete, Patch, Scale, Step
from commands.training import manifests
from commands.training.manifests import SERVER, WORKER
from commands.training.placement import TaskRequest
from commands.training.spec import TrainingSpec

_API = {"Job": "batch/v1", "Deployment": "apps/v1", "StatefulSet": "apps/v1"}
_QUEUE_OF_KUEUE = "kueue.x-k8s.io/queue-name"


def task_requests(spec: TrainingSpec) -> tuple[TaskRequest, ...]:
    """Return the tasks to schedule."""

    def task(role: str, count: int, amounts: dict[str, str], tolerates: frozenset[str]) -> TaskRequest:
        return TaskRequest(
            role=role,
            count=count,
            amounts={name: parse_quantity(one) for name, one in amounts.items()},
            node_selector=spec.node_selector,
            tolerates=tolerates,
        )

    return (
        task(SERVER, spec.servers, spec.server_amounts, frozenset()),
        task(WORKER, spec.workers, spec.worker_amounts, manifests.tolerated(spec)),
    )


def launch(spec: TrainingSpec, *, has_namespace: bool, has_secret: bool) -> tuple[Step, ...]:
    """Return the steps that create all objects; the workers are created last and suspended, then resumed."""
    steps: list[Step] = []
    if not has_namespace:
        steps.append(
            Create(manifest=manifests.namespace(spec), description=f"create namespace {spec.namespace}")
        )
    if spec.pull_secret and not has_secret:
        place, _, name = spec.pull_secret.partition("/")
        steps.append(
            Create(
                manifest=manifests.pull_secret(spec),
                description=f"copy the pull secret {name} from {place}",
                is_secret=True,
                copies=ObjectRef(api="v1", kind="Secret", namespace=place, name=name),
            )
        )
    if spec.script_text:
        lines = spec.script_text.count("\n") + 1
        made = manifests.script(spec)
        steps.append(Create(manifest=made, description=f"store the script ({lines} lines) as {_named(made)}"))
    steps += [Create(manifest=one, description=f"create {_named(one)}") for one in manifests.services(spec)]
    for index in range(spec.servers):
        made = manifests.server(spec, index)
        steps.append(Create(manifest=made, description=f"create {_named(made)}, a parameter server"))
    job = manifests.workers(spec)
    gpus = f", each with {spec.gpus:g} {spec.gpu_resource}" if spec.gpus else ""
    workers = f"{spec.workers} worker{'s' if spec.workers != 1 else ''}{gpus}"
    create_job = Create(manifest=job, description=f"create {_named(job)}, suspended: {workers}")
    resume = Patch(
        ref=create_job.ref,
        description="resume the workers",
        body={"spec": {"suspend": False}},
        requires=(Precondition(path=("spec", "suspend"), equals=True),),
        undo={"spec": {"suspend": True}},
    )
    return (*steps, create_job, resume)


def note_launch(
    spec: TrainingSpec,
    *,
    cluster: str,
    now: datetime,
    channel: str,
    thread: str,
    by_name: str,
    before: Launch | None,
) -> Step:
    """Return the step that records the launch, so that its state is reported in the thread."""
    row = Launch(
        id=f"{cluster}/{spec.id}",
        cluster=cluster,
        training=spec.id,
        by=spec.launched_by,
        by_name=by_name,
        at=now,
        channel=channel,
        thread=thread,
    )
    return record("launches", row, text="report its state in this thread", before=before)


def stop(
    training: Training, inventory: Inventory, *, left: Sequence[dict[str, Any]] = ()
) -> tuple[Step, ...]:
    """Return the steps that delete its controllers, never its pods; and `left`, other objects of ours from the API."""
    steps: list[Step] = [
        Delete(ref=ref, description=f"delete {ref} and its pods")
        for ref, _ in _controllers(training, inventory)
    ]
    for one in left:
        meta = one["metadata"]
        ref = ObjectRef(
            api="v1", kind=one["kind"], namespace=meta["namespace"], name=meta["name"], uid=meta["uid"]
        )
        steps.append(Delete(ref=ref, description=f"delete {ref}"))
    return tuple(steps)


def suspend(training: Training, inventory: Inventory) -> tuple[Step, ...]:
    """Return the steps that suspend the Jobs and scale the servers to 0: the GPUs are freed, and undo restores them.

    A Job managed by Kueue is deleted instead, as Kueue owns its suspension.
    """
    steps: list[Step] = []
    for ref, found in _controllers(training, inventory):
        if ref.kind != "Job":
            count = found.spec.replicas if found.spec.replicas is not None else 1  # type: ignore[attr-defined]
            if count:
                steps.append(
                    Scale(ref=ref, description=f"scale {ref} from {count} to 0", replicas=0, expected=count)
                )
        elif _QUEUE_OF_KUEUE in (found.metadata.labels or {}):
            steps.append(Delete(ref=ref, description=f"delete {ref}: Kueue would resume it"))
        elif not found.spec.suspend:  # type: ignore[attr-defined]
            steps.append(
                Patch(
                    ref=ref,
                    description=f"suspend {ref}: its pods end, and undo restarts them",
                    body={"spec": {"suspend": True}},
                    undo={"spec": {"suspend": False}},
                )
            )
    return tuple(steps)


def _controllers(training: Training, inventory: Inventory) -> list[tuple[ObjectRef, KubernetesObject]]:
    """Return its current Jobs and parameter servers, with references by uid."""
    kinds: dict[str, ResourceKind[Any]] = {
        kind.type.__name__: kind for kind in (JOBS, DEPLOYMENTS, STATEFULSETS)
    }
    found: list[tuple[ObjectRef, KubernetesObject]] = []
    for workload in training.workloads:
        namespace, kind, name = workload.split("/", 2)
        if kind in kinds and (one := inventory.all(kinds[kind]).get(f"{namespace}/{name}")) is not None:
            ref = ObjectRef(api=_API[kind], kind=kind, namespace=namespace, name=name, uid=one.metadata.uid)
            found.append((ref, one))
    return found


def _named(made: dict[str, Any]) -> str:
    return f"{made['kind']} {made['metadata']['name']}"
