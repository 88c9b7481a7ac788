"""Results that are read of a test's output: what it found, what it measured, and why it cannot be read.

Every reader is a function from text to a `ReadResult`. The text may be anything: it is bounded, its names and words
become one line each, a number that cannot be is left out, and what cannot be read is never a pass.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import wraps
from math import isfinite

from collectors.facts.one_line import NAME, SENTENCE, one_line
from collectors.facts.sentences import Sentence, sentence

MOST_READ = 1 << 20  # characters of an output
MOST_LINES = 20_000
MOST_FINDINGS = 64
MOST_FIGURES = 512
GPUS_READ = 256
LARGEST = 1e9  # of a figure, in its unit
# As dash, bash and busybox say it: `/bin/sh: 3: dcgmi: not found`, `bash: line 3: dcgmi: command not found`.
_NOT_FOUND = re.compile(
    r"(?:\S{1,64}: )?(?:(?:line )?\d{1,6}: )?(?P<program>[\w./-]{1,64}): (?:command )?not found\s*"
)
NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,12})?(?:e[+-]?[0-9]{1,3})?")


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


IS_EMPTY: Sentence = sentence("the test printed nothing")
IS_CUT: Sentence = sentence("its output ends in the middle")
IS_UNKNOWN: Sentence = sentence("its output is not in a format that is known")


def proves_nothing(problem: str, reading: ReadResult | None = None) -> ReadResult:
    """Return a reading that proves nothing, with what could be read."""
    return replace(reading or ReadResult(), problem=problem)


def bounded_result(
    *,
    findings: Iterable[PartReport] = (),
    figures: Iterable[MeasuredFigure] = (),
    versions: Mapping[str, str] | None = None,
    passed: int = 0,
    gpus: int | None = None,
    problem: str = "",
) -> ReadResult:
    """Return a reading with at most so many findings and figures; what failed comes first."""
    ranked = sorted(findings, key=lambda one: list(PartState).index(one.outcome))
    return ReadResult(
        findings=tuple(ranked[:MOST_FINDINGS]),
        figures=tuple(figures)[:MOST_FIGURES],
        versions={name: said for name, said in (versions or {}).items() if said},
        passed=passed,
        gpus=gpus,
        problem=problem,
    )


def unread(text: str, *, has_begun: bool) -> Sentence:
    """Return why nothing could be read to its end: no program, an output that was cut, or one of something else."""
    if missing := missing_program(text):
        return sentence("its image has no `{program}`", program=missing)
    return IS_CUT if has_begun or is_cut(text) else IS_UNKNOWN


def missing_program(text: str) -> str:
    """Return the program that a shell did not find; empty if it found all."""
    found = next((one for line in printed_lines(text) if (one := _NOT_FOUND.fullmatch(line[:300]))), None)
    return printed_name(found["program"]) if found is not None else ""


def printed_lines(text: str) -> list[str]:
    """Return the lines of an output, as many as are read. A terminal's carriage returns end lines, too."""
    return text[:MOST_READ].replace("\r", "\n").split("\n")[:MOST_LINES]


def is_cut(text: str) -> bool:
    """Whether more of the output was there than is read."""
    return len(text) > MOST_READ


def printed_name(said: object) -> str:
    """Return a name from outside as one short line; empty if it is none."""
    return one_line(said, NAME) if isinstance(said, str) else ""


def printed_words(said: object) -> str:
    """Return words from outside as one line; empty if they are none."""
    return one_line(said, SENTENCE) if isinstance(said, str) else ""


def printed_number(said: object) -> float | None:
    """Return a number that a figure may have; None for what is none, negative, or too large."""
    if isinstance(said, str):
        written = said.strip()
        if not NUMBER.fullmatch(written):
            return None
        value = float(written)
    elif isinstance(said, int | float) and not isinstance(said, bool):
        try:
            value = float(said)
        except OverflowError:
            return None
    else:
        return None
    return value if isfinite(value) and 0 <= value < LARGEST else None


def gpu_of(said: object) -> int | None:
    """Return the index of a GPU; None for what is none."""
    value = printed_number(said)
    return int(value) if value is not None and value == int(value) and value < GPUS_READ else None


def output_reader(read: Callable[[str], ReadResult]) -> Callable[[str], ReadResult]:
    """Return the reader for any text: an empty one proves nothing."""

    @wraps(read)
    def framed(text: str) -> ReadResult:
        return read(text) if text.strip() else proves_nothing(IS_EMPTY)

    return framed
