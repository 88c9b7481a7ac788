"""The real controllers of the kinds of training: which tests of them are in `make test`, and what is recorded of them.

A test records the kind and the controller it has passed with. The docs have a table of these records.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from collectors.facts.clock import SystemClock
from tests.real.parts import layout
from tests.real.parts.controllers import (
    JOBSET,
    KUBERAY,
    KUEUE,
    MPI_OPERATOR,
    TRAINER,
    TRAINING_OPERATOR,
    VOLCANO,
    Controller,
)

Record = Callable[[str, object], None]  # pytest's `record_property`

TITLES = {
    JOBSET.part: "JobSet",
    TRAINER.part: "Kubeflow Trainer",
    TRAINING_OPERATOR.part: "Training Operator",
    MPI_OPERATOR.part: "MPI operator",
    KUBERAY.part: "KubeRay",
    KUEUE.part: "Kueue",
    VOLCANO.part: "Volcano",
}
# By the option of the kind: its own controller.
CONTROLLERS = {
    "pytorchjob": TRAINING_OPERATOR,
    "tfjob": TRAINING_OPERATOR,
    "mpijob": TRAINING_OPERATOR,
    "mpijobv2": MPI_OPERATOR,
    "rayjob": KUBERAY,
    "trainjob": TRAINER,
    "vcjob": VOLCANO,
}


@dataclass(frozen=True, slots=True)
class OwnLife:
    """A kind whose life has tests of its own, all of which are in `make test`."""

    controller: str
    tests: str


OWN = {
    "job": OwnLife(f"Kubernetes {layout.KUBERNETES}", "tests/commands/training/test_real_kubernetes.py"),
    "jobset": OwnLife(f"{TITLES[JOBSET.part]} {JOBSET.version}", "tests/commands/training/test_jobsets.py"),
}
# Which kinds are in `make test`: their short life, an elastic one, and one in a queue of Kueue.
SHORT = ("pytorchjob", "trainjob")
ELASTIC = ("pytorchjob",)
IN_KUEUE = ("job", "pytorchjob")


def in_every_run() -> Mapping[str, tuple[str, ...]]:
    """Return what `make test` shows on a real controller, by the option of the kind."""
    shown = {"start and success": SHORT, "elastic": ELASTIC, f"queue of {title(KUEUE)}": IN_KUEUE}
    kinds = (*OWN, *CONTROLLERS)
    return {kind: tuple(what for what, of in shown.items() if kind in of) for kind in kinds}


def title(part: Controller) -> str:
    return f"{TITLES[part.part]} {part.version}"


def record_passed(record: Record, kind: str, part: Controller) -> None:
    """Record what a test is of, for the docs: it counts once the test has passed."""
    record("kind", kind)
    record("controller", title(part))
    record("on", f"{SystemClock().now():%Y-%m-%d}")
