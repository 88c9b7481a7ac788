"""Trainings as PyTorchJobs of the Training Operator: master and workers."""

from collectors.cluster.kinds import PYTORCHJOBS
from collectors.trainings.operator_job import operator_reading

KIND = operator_reading(PYTORCHJOBS)
