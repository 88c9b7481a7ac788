"""The lines of our own checks, which a suite of the settings may print, too: device files, disk, DNS, network.

`yardmaster/1 NAME pass|warn|fail|skip [VALUE UNIT] [gpu=N] [next=STEP] [-- words]`, one line for each check, and
`yardmaster/1 end` as the last. What stands in between is not read.
"""

import re

from collectors.acceptance import printed
from collectors.acceptance.reader_results import IS_CUT, bounded_result, output_reader, proves_nothing, unread
from collectors.acceptance.readings import MeasuredFigure, NextStep, PartReport, PartState, ReadResult
from collectors.facts.sentences import sentence

FORMAT = "yardmaster/1"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,39}")
_UNIT = re.compile(r"[A-Za-z%/]{1,12}")
_COSTS = ("s", "ms", "us", "%")  # units of which less is better
_VERSION = "version"
_OUTCOMES = {"fail": PartState.FAILED, "warn": PartState.WARNED, "skip": PartState.SKIPPED}
_STEPS = {step.value: step for step in NextStep}


@output_reader
def read_check_lines(text: str) -> ReadResult:
    """Return what the checks found and measured. `yardmaster/1 version NAME SAID` is a version."""
    findings: list[PartReport] = []
    figures: list[MeasuredFigure] = []
    versions: dict[str, str] = {}
    passed = 0
    has_ended = is_ours = False
    for raw in printed.lines(text):
        line = raw.strip()[:2_000]
        if not line.startswith(f"{FORMAT} ") or has_ended:
            continue
        is_ours = True
        words, _, said = line[len(FORMAT) + 1 :].partition(" -- ")
        fields = words.split()
        if fields == ["end"]:
            has_ended = True
        elif len(fields) >= 3 and fields[0] == _VERSION and _NAME.fullmatch(fields[1]):
            if len(versions) < 16:
                versions[fields[1]] = printed.name(" ".join(fields[2:]))
        elif len(fields) >= 2 and _NAME.fullmatch(fields[0]):
            name, status, rest = fields[0], fields[1].lower(), fields[2:]
            options = dict(one.split("=", 1) for one in rest if "=" in one)
            gpu = printed.gpu_of(options["gpu"]) if "gpu" in options else None
            if figure := _figure(name, [one for one in rest if "=" not in one], gpu):
                figures.append(figure)
            if status == "pass":
                passed += 1
                continue
            findings.append(
                PartReport(
                    part=name,
                    gpu=gpu,
                    outcome=_OUTCOMES.get(status, PartState.SKIPPED),
                    said=printed.words(said),
                    next_step=_STEPS.get(options.get("next", ""), NextStep.LOOK),
                )
            )
    if not is_ours:
        return proves_nothing(unread(text, has_begun=False))
    reading = bounded_result(findings=findings, figures=figures, versions=versions, passed=passed)
    if not has_ended and not reading.failed:
        return proves_nothing(IS_CUT, reading)
    if not passed and not reading.failed:
        return proves_nothing(sentence("none of its checks passed"), reading)
    return reading


def _figure(name: str, rest: list[str], gpu: int | None) -> MeasuredFigure | None:
    if len(rest) < 2 or not _UNIT.fullmatch(rest[1]):
        return None
    value = printed.figure(rest[0])
    if value is None:
        return None
    return MeasuredFigure(name=name, unit=rest[1], value=value, gpu=gpu, is_cost=rest[1] in _COSTS)
