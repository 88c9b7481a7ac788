"""The roles of an MPI training: workers that wait for work, and a launcher that starts it on them. Pure."""

from dataclasses import replace

from commands.training.manifests import Object
from commands.training.spec import TrainingRole, TrainingSpec


def mpi_roles(spec: TrainingSpec) -> tuple[TrainingRole, ...]:
    """The command is the launcher's. Workers have none: the operator has them wait for the launcher."""
    launcher = replace(spec.workers, name="launcher", replicas=1, gpus=0)
    return replace(spec.workers, command=(), arguments=()), launcher


def mpi_more(spec: TrainingSpec) -> Object:
    """As many processes on each worker as it has GPUs."""
    return {"slotsPerWorker": max(1, round(spec.workers.gpus))}
