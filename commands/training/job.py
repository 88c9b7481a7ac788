"""This file writes trainings of plain Kubernetes: the steps to launch, stop and pause one."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import KubernetesObject
from collectors.cluster.resources import parse_quantity
from collectors.trainings.training import Training
from commands.models import Launch
from commands.plans.record_steps import record
from commands.plans.steps import Create, Delete, ObjectRef, Patch, Precondition, Scale, Step
from commands.training import manifests
from commands.training.manifests import SERVER, WORKER
from commands.training.placement import TaskRequest
from commands.training.spec import TrainingSpec

_API = {"Job": "batch/v1", "Deployment": "apps/v1", "StatefulSet": "apps/v1"}
_QUEUE_OF_KUEUE = "kueue.x-k8s.io/queue-name"


def task_requests(spec: TrainingSpec) -> tuple[TaskRequest, ...]:
    """What has to find a place."""

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
    """All objects in order; the workers last and suspended, then let go."""
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
        steps.append(Create(manifest=made, description=f"keep the script ({lines} lines) as {_named(made)}"))
    steps += [Create(manifest=one, description=f"create {_named(one)}") for one in manifests.services(spec)]
    for index in range(spec.servers):
        made = manifests.server(spec, index)
        steps.append(Create(manifest=made, description=f"create {_named(made)}, a parameter server"))
    job = manifests.workers(spec)
    asks = f", each with {spec.gpus:g} {spec.gpu_resource}" if spec.gpus else ""
    workers = f"{spec.workers} worker{'s' if spec.workers != 1 else ''}{asks}"
    made_job = Create(manifest=job, description=f"create {_named(job)}, suspended: {workers}")
    let_go = Patch(
        ref=made_job.ref,
        description="let the workers go",
        body={"spec": {"suspend": False}},
        requires=(Precondition(path=("spec", "suspend"), equals=True),),
        inverse={"spec": {"suspend": True}},
    )
    return (*steps, made_job, let_go)


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
    """The record by which its owner is told how it goes."""
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
    return record("launches", row, says="tell this thread how it goes", before=before)


def stop(
    training: Training, inventory: Inventory, *, left: Sequence[dict[str, Any]] = ()
) -> tuple[Step, ...]:
    """Delete what makes its pods, never the pods; and `left`, smaller things of ours, as the API shows them."""
    steps: list[Step] = [
        Delete(ref=ref, description=f"delete {ref}: its pods go with it")
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
    """Suspend the Jobs and scale the servers to nothing: the GPUs are free, and undoing the plan brings it back.

    A Job that Kueue admits is deleted instead, for Kueue owns its suspension.
    """
    steps: list[Step] = []
    for ref, found in _controllers(training, inventory):
        if ref.kind != "Job":
            was = found.spec.replicas if found.spec.replicas is not None else 1  # type: ignore[attr-defined]
            if was:
                steps.append(
                    Scale(ref=ref, description=f"scale {ref} from {was} to 0", replicas=0, expected=was)
                )
        elif _QUEUE_OF_KUEUE in (found.metadata.labels or {}):
            steps.append(Delete(ref=ref, description=f"delete {ref}: Kueue would wake it up again"))
        elif not found.spec.suspend:  # type: ignore[attr-defined]
            steps.append(
                Patch(
                    ref=ref,
                    description=f"suspend {ref}: its pods end, undoing this starts them anew",
                    body={"spec": {"suspend": True}},
                    inverse={"spec": {"suspend": False}},
                )
            )
    return tuple(steps)


def _controllers(training: Training, inventory: Inventory) -> list[tuple[ObjectRef, KubernetesObject]]:
    """Its Jobs and servers as they are now, by their uids."""
    held: dict[str, Any] = {
        "Job": inventory.jobs,
        "Deployment": inventory.deployments,
        "StatefulSet": inventory.statefulsets,
    }
    found: list[tuple[ObjectRef, KubernetesObject]] = []
    for workload in training.workloads:
        namespace, kind, name = workload.split("/", 2)
        if (one := held.get(kind, {}).get(f"{namespace}/{name}")) is not None:
            ref = ObjectRef(api=_API[kind], kind=kind, namespace=namespace, name=name, uid=one.metadata.uid)
            found.append((ref, one))
    return found


def _named(made: dict[str, Any]) -> str:
    return f"{made['kind']} {made['metadata']['name']}"
