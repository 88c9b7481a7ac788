"""Trainings as MPIJobs of the MPI operator, which starts the work by SSH. Source: `kubeflow.org/v2beta1`, 0.8.

Its MPIJob has the kind and the group of the Training Operator's: a cluster serves one of them.
"""

from collectors.cluster.kinds import MPIJOBS_V2BETA1
from commands.training.mpi_roles import mpi_more, mpi_roles
from commands.training.operator_job import OperatorForm, operator_writing
from commands.training.spec import TrainingRole


def _host(name: str, role: TrainingRole, index: int) -> str:
    """The operator makes one Service, named like the job; the launcher has no number."""
    task = f"{name}-{role.name}" if role.name == "launcher" else f"{name}-{role.name}-{index}"
    return f"{task}.{name}"


KIND = operator_writing(
    OperatorForm(
        objects=MPIJOBS_V2BETA1,
        typed="mpijobv2",
        summary="an MPIJob of the MPI operator, of workers and a launcher, which reaches them by SSH",
        specs="mpiReplicaSpecs",
        container="mpi",
        roles=mpi_roles,
        names={"worker": "Worker", "launcher": "Launcher"},
        more=mpi_more,
        controller="kubeflow.org/mpi-operator",
        host=_host,
        tries_again=True,  # its launcher is a Job
    )
)
