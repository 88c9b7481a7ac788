"""Checks of trainings: those that wait for resources."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from collectors.checks.check import CheckInput, ClusterCheck
from collectors.facts.labels import Labels
from collectors.facts.results import Blind, Sample
from collectors.trainings.training import Training, TrainingState


def pending(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each queued training: for how many seconds, and the reason from the scheduler."""
    assert not isinstance(inputs.trainings, Blind)
    return [
        Sample(
            labels=Labels({"namespace": training.namespace, "training": training.id}),
            value=_waited(training, inputs.at),
            texts=(training.reason,) if training.reason else (),
        )
        for training in inputs.trainings
        if training.state is TrainingState.QUEUED
    ]


def _waited(training: Training, at: datetime) -> float:
    return (at - training.created).total_seconds() if training.created else 0


CHECKS = (
    ClusterCheck(
        name="training-pending",
        summary="a training waits for resources",
        needs=frozenset({"trainings"}),
        run=pending,
    ),
)
