"""Trainings as MPIJobs of the Training Operator: launcher and workers."""

from collectors.cluster.kinds import MPIJOBS
from collectors.trainings.operator_job import operator_reading

KIND = operator_reading(MPIJOBS)
