"""Trainings as MPIJobs of the Training Operator: launcher and workers."""

from collectors.cluster.kinds import MPIJOBS
from collectors.trainings.operator_job import operator_kind

KIND = operator_kind(MPIJOBS)
