"""Results as readers make them: bounded, and with the problem of an output that proves nothing."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import wraps

from collectors.acceptance import printed
from collectors.acceptance.readings import MeasuredFigure, PartReport, PartState, ReadResult
from collectors.facts.sentences import Sentence, sentence

MOST_FINDINGS = 64
MOST_FIGURES = 512

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
    if missing := printed.missing_program(text):
        return sentence("its image has no `{program}`", program=missing)
    return IS_CUT if has_begun or printed.is_cut(text) else IS_UNKNOWN


def output_reader(read: Callable[[str], ReadResult]) -> Callable[[str], ReadResult]:
    """Return the reader for any text: an empty one proves nothing."""

    @wraps(read)
    def framed(text: str) -> ReadResult:
        return read(text) if text.strip() else proves_nothing(IS_EMPTY)

    return framed
