"""Trainings as MPIJobs of the MPI operator: workers, and a launcher that is a Job. `kubeflow.org/v2beta1`, 0.8."""

from collectors.cluster.kinds import JOBS, MPIJOBS_V2BETA1
from collectors.trainings.operator_job import operator_reading

KIND = operator_reading(
    MPIJOBS_V2BETA1, role_label="training.kubeflow.org/job-role", others=(JOBS,), typed="mpijobv2"
)
