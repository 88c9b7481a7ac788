"""This file has the checks of trainings: those that wait for resources."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from collectors.checks.check import CheckInput, ClusterCheck
from collectors.facts.labels import Labels
from collectors.facts.results import Blind, Sample
from collectors.trainings.views import Life, TrainingView


def pending(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """One sample for each training that is queued: for how many seconds, and what the scheduler says."""
    assert not isinstance(inputs.trainings, Blind)
    return [
        Sample(
            labels=Labels({"namespace": view.namespace, "training": view.id}),
            value=_waited(view, inputs.at),
            texts=(view.reason,) if view.reason else (),
        )
        for view in inputs.trainings
        if view.life is Life.QUEUED
    ]


def _waited(view: TrainingView, at: datetime) -> float:
    return (at - view.created).total_seconds() if view.created else 0


CHECKS = (
    ClusterCheck(
        name="training-pending",
        summary="a training waits for resources",
        needs=frozenset({"trainings"}),
        run=pending,
    ),
)
