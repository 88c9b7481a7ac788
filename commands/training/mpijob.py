"""Trainings as MPIJobs of the Training Operator: a launcher runs the command, which starts the work on the workers."""

from collectors.cluster.kinds import MPIJOBS
from commands.training.mpi_roles import mpi_more, mpi_roles
from commands.training.operator_job import OperatorForm, operator_writing

KIND = operator_writing(
    OperatorForm(
        objects=MPIJOBS,
        summary="an MPIJob of workers and a launcher, which runs the command (`mpirun …`) and has no GPUs",
        specs="mpiReplicaSpecs",
        container="mpi",
        roles=mpi_roles,
        names={"worker": "Worker", "launcher": "Launcher"},
        more=mpi_more,
        changed_pods={
            "launcher": {"automountServiceAccountToken": None}
        },  # it reaches the workers by the API
    )
)
