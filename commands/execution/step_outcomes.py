"""The outcomes of trying a step once: done, waiting, refused or unknown."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What the step is for, stands. `is_ours` is false if it stood before, so that an undo leaves it."""

    text: str = "done"
    uid: str = ""  # of the object that the step created
    is_ours: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Not done yet, for a reason that passes. Try again in so many seconds.

    `blocker` names what has to let it go, such as a PodDisruptionBudget, so that a preview can compare it.
    """

    reason: str
    again_in: float = 1.0
    blocker: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Surely not done, and trying again would not help."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A write was sent, and it is not known whether it took effect."""

    reason: str


Outcome = Done | Waiting | Refused | Unknown
