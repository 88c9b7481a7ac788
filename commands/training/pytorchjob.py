"""Trainings as PyTorchJobs of the Training Operator: the first worker is the master, whose end is the training's."""

from dataclasses import replace

from collectors.cluster.kinds import PYTORCHJOBS
from commands.training.manifests import Object
from commands.training.operator_job import OperatorForm, operator_writing
from commands.training.spec import TrainingRole, TrainingSpec


def _roles(spec: TrainingSpec) -> tuple[TrainingRole, ...]:
    """The API has exactly one master, which is the first of the workers."""
    master = replace(spec.workers, name="master", replicas=1)
    others = replace(spec.workers, replicas=spec.workers.replicas - 1)
    return (master, others) if others.replicas else (master,)


def _more(spec: TrainingSpec) -> Object:
    """One process for each GPU, as `torchrun` takes it from PET_NPROC_PER_NODE."""
    return {"nprocPerNode": str(max(1, round(spec.workers.gpus)))}


KIND = operator_writing(
    OperatorForm(
        objects=PYTORCHJOBS,
        summary="a PyTorchJob of a master and the other workers, with PET_* and MASTER_* set for `torchrun`",
        specs="pytorchReplicaSpecs",
        container="pytorch",
        roles=_roles,
        names={"master": "Master", "worker": "Worker"},
        more=_more,
    )
)
