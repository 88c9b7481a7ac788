"""The kinds of training that commands can change. A new kind is one module and one entry here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from collectors.cluster.inventory import Inventory
from collectors.trainings.training import Training
from commands.core.command import UnusableError
from commands.plans.steps import Step
from commands.training import job


class Stop(Protocol):
    """Returns the steps that delete a training's top controllers, and `left`: other objects of ours from the API."""

    def __call__(
        self, training: Training, inventory: Inventory, *, left: Sequence[dict[str, Any]] = ()
    ) -> tuple[Step, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingWriter:
    """How to stop one kind of training. `suspend` frees its GPUs such that an undo restores the training."""

    name: str
    stop: Stop
    suspend: Callable[[Training, Inventory], tuple[Step, ...]]


KINDS = {one.name: one for one in (TrainingWriter(name="Job", stop=job.stop, suspend=job.suspend),)}


def kind_of(training: Training) -> TrainingWriter:
    """Return the kind that can change this training. Raises UnusableError if there is none."""
    if (kind := KINDS.get(training.kind)) is None:
        raise UnusableError(
            f"{training.id} is a {training.kind}, which can only be read. These can be changed: {', '.join(KINDS)}."
        )
    return kind
