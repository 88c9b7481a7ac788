"""This file lists the kinds of training that are written. A new kind is one file and one line here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from collectors.cluster.inventory import Inventory
from collectors.trainings.training import Training
from commands.core.command import UnusableError
from commands.plans.steps import Step
from commands.training import job


class Stop(Protocol):
    """Steps that delete a training at its top, with `left`: smaller objects of ours, as the API shows them."""

    def __call__(
        self, training: Training, inventory: Inventory, *, left: Sequence[dict[str, Any]] = ()
    ) -> tuple[Step, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingKind:
    """How one kind of training ends. `pause` frees its GPUs so that undoing it brings the training back."""

    name: str
    stop: Stop
    suspend: Callable[[Training, Inventory], tuple[Step, ...]]


KINDS = {one.name: one for one in (WritingKind(name="Job", stop=job.stop, suspend=job.suspend),)}


def kind_of(training: Training) -> WritingKind:
    """The kind that can write this training. Raises UnusableError when none can."""
    if (kind := KINDS.get(training.kind)) is None:
        raise UnusableError(
            f"{training.id} is a {training.kind}, which I can read but not change: {', '.join(KINDS)}."
        )
    return kind
