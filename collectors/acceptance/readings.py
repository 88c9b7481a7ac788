"""Results that are read of a test's output: what it found, what it measured, and why it cannot be read.

Every reader is a function from text to a `ReadResult`. The text may be anything: it is bounded, its names and words
become one line each, a number that cannot be is left out, and what cannot be read is never a pass.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class PartState(StrEnum):
    """What a test says of a part. Words that are not known are SKIPPED: they are no proof that it is well."""

    FAILED = "failed"
    WARNED = "warned"
    SKIPPED = "skipped"


class NextStep(StrEnum):
    """What a person does about a part that failed."""

    LOOK = "look"  # at the test's output: nothing more is known
    CONFIGURE = "configure"  # software or its settings, not the hardware
    RESET = "reset"  # the GPU
    REBOOT = "reboot"  # the node
    REPLACE = "replace"  # the part: an RMA, with the evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PartReport:
    """A part of which a test says that it is not well, or that it was not tested. Without `gpu` it is of the node."""

    part: str
    gpu: int | None = None
    outcome: PartState
    said: str = ""
    next_step: NextStep = NextStep.LOOK


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredFigure:
    """A measured value. Larger is better, unless `is_cost`. Without `gpu` it is of the whole node."""

    name: str
    unit: str
    value: float
    gpu: int | None = None
    is_cost: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadResult:
    """What one test said. `passed`: how many of its checks did; `gpus`: how many it saw, None where it counts none.

    With a `problem` it proves nothing.
    """

    findings: tuple[PartReport, ...] = ()
    figures: tuple[MeasuredFigure, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)  # of the driver, the tool, the firmware
    passed: int = 0
    gpus: int | None = None
    problem: str = ""

    @property
    def failed(self) -> tuple[PartReport, ...]:
        return tuple(one for one in self.findings if one.outcome is PartState.FAILED)

    @property
    def has_passed(self) -> bool:
        return not self.problem and not self.failed and self.passed > 0
