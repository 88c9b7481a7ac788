"""Trainings for tests."""

from dataclasses import replace
from typing import Any

from collectors.trainings.training import Training, TrainingState


def a_training(namespace: str, name: str, state: TrainingState, **parts: Any) -> Training:
    """Return a training of a Job."""
    made = Training(id=f"{namespace}/{name}", kind="Job", namespace=namespace, name=name, state=state)
    return replace(made, **parts)
