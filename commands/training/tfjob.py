"""Trainings as TFJobs of the Training Operator: workers and parameter servers, which end with the workers."""

from collectors.cluster.kinds import TFJOBS
from commands.training.manifests import Object
from commands.training.operator_job import OperatorForm, operator_writing
from commands.training.spec import TrainingRole, TrainingSpec


def _roles(spec: TrainingSpec) -> tuple[TrainingRole, ...]:
    return spec.roles


def _more(_spec: TrainingSpec) -> Object:
    """It has succeeded when all workers have: by default the first one decides."""
    return {"successPolicy": "AllWorkers"}


KIND = operator_writing(
    OperatorForm(
        objects=TFJOBS,
        summary="a TFJob of workers and parameter servers, which end with the workers; TF_CONFIG is set",
        specs="tfReplicaSpecs",
        container="tensorflow",
        port="tfjob-port",
        roles=_roles,
        names={"worker": "Worker", "ps": "PS"},
        more=_more,
        servers=True,
    )
)
