"""Trainings as TFJobs of the Training Operator: chief, workers, parameter servers and evaluator."""

from collectors.cluster.kinds import TFJOBS
from collectors.trainings.operator_job import operator_reading

KIND = operator_reading(TFJOBS)
