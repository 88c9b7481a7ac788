"""nccl-tests' `all_reduce_perf`: bus bandwidth by size, as its versions print it.

The columns are read from their heading: old versions have `error` for `#wrong` and no `root`, the newest begin with
their version. A line of ours, `yardmaster/1 gpu N`, begins the run of one GPU alone: what it measures is that GPU's
memory. After `yardmaster/1 only gpu` there is no other run: only one GPU is tested.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from collectors.acceptance import printed
from collectors.acceptance.reader_results import IS_CUT, bounded_result, output_reader, unread
from collectors.acceptance.readings import MeasuredFigure, NextStep, PartReport, PartState, ReadResult
from collectors.facts.sentences import sentence

ALL_REDUCE, COPY = "NCCL all_reduce", "memory copy"
_FROM_MPI = re.compile(r"^\[[0-9]{1,6},[0-9]{1,6}\]<std(?:out|err)>: ?")
_SECTION = re.compile(r"^yardmaster/1 gpu ([0-9]{1,3})$")
_RANK = re.compile(r"^#\s+Rank\s+[0-9]{1,6}\b")
_VERSION = re.compile(r"^# nccl-tests version (\S+).*?(?:nccl-library=(\S+))?$")
_FAILURE = re.compile(r"Test (?:CUDA|NCCL) failure|Test failure|ncclUnhandledCudaError|ncclSystemError")
_OUT_OF_BOUNDS = re.compile(r"^#\s+Out of bounds values\s*:\s*([0-9]{1,12})")
_WRONG = ("#wrong", "error")


@dataclass(slots=True)
class _Run:
    """One run of the tool: of one GPU alone, or of all."""

    gpu: int | None = None
    columns: Sequence[str] = ()
    ranks: int = 0
    best: dict[str, float] = field(default_factory=dict)  # by column
    rows: int = 0
    wrong: float = 0
    failure: str = ""
    has_ended: bool = False


@output_reader
def read_nccl_tests(text: str) -> ReadResult:
    """Return the best bus bandwidth of all GPUs together, and what each measured alone."""
    versions: dict[str, str] = {}
    runs = [_Run()]
    is_one = False
    for raw in printed.lines(text):
        line = _FROM_MPI.sub("", raw).strip()
        if section := _SECTION.match(line):
            runs.append(_Run(gpu=printed.gpu_of(section[1])))
        elif line.startswith("yardmaster/1 only gpu"):
            is_one = True
            runs.append(_Run(gpu=0))
        elif line.startswith("yardmaster/1 gpu all"):
            runs.append(_Run())
        elif version := _VERSION.match(line[:400]):
            versions["nccl-tests"] = printed.name(version[1])
            versions["NCCL"] = printed.name(version[2] or "")
        else:
            _take(runs[-1], line)
    seen = [run for run in runs if run.rows or run.failure or run.columns or run.ranks]
    findings = [finding for run in seen for finding in _findings(run)]
    whole = [run for run in seen if run.gpu is None]
    problem = ""
    if not seen:
        problem = unread(text, has_begun=False)
    elif not findings and not all(run.has_ended and run.rows for run in seen):
        problem = unread(text, has_begun=True)
    elif not findings and not whole and not is_one:
        problem = IS_CUT  # our suite measures all GPUs together as the last
    return bounded_result(
        findings=findings,
        figures=[figure for run in seen for figure in _figures(run)],
        versions=versions,
        passed=sum(run.has_ended and run.rows > 0 and not run.wrong for run in seen),
        problem=problem,
    )


def _take(run: _Run, line: str) -> None:
    """Read one line of a run."""
    if line.startswith("#"):
        words = line.lstrip("# ").split()
        if "busbw" in words and "size" in words:
            run.columns = tuple(words)
        elif _RANK.match(line):
            run.ranks += 1
        elif line.startswith("# Avg bus bandwidth"):
            run.has_ended = True
        elif (found := _OUT_OF_BOUNDS.match(line)) and (number := printed.figure(found[1])):
            run.wrong = max(run.wrong, number)
        return
    if not run.failure and _FAILURE.search(line[:2_000]):
        run.failure = printed.words(line[:2_000])
        return
    values = line.split()
    if not run.columns or len(values) != len(run.columns) or not printed.NUMBER.fullmatch(values[0]):
        return
    run.rows += 1
    is_in_place = False
    for name, written in zip(run.columns, values, strict=True):
        is_in_place = is_in_place or name in _WRONG
        value = printed.figure(written)  # `N/A` where nothing was checked
        if value is None:
            continue
        if name in _WRONG:
            # Old versions print how far off the results are, the others how many of them.
            run.wrong = max(run.wrong, value if name == "#wrong" or value > 1e-3 else 0)
        elif name == "busbw" or (name == "algbw" and not is_in_place):  # in place, one rank copies nothing
            run.best[name] = max(run.best.get(name, 0.0), value)


def _findings(run: _Run) -> list[PartReport]:
    if run.failure:
        return [
            PartReport(
                part="NCCL",
                gpu=run.gpu,
                outcome=PartState.FAILED,
                said=run.failure,
                next_step=NextStep.RESET if run.gpu is not None else NextStep.REBOOT,
            )
        ]
    if run.wrong:
        said = sentence("it computed wrong results")
        return [
            PartReport(
                part="NCCL", gpu=run.gpu, outcome=PartState.FAILED, said=said, next_step=NextStep.REPLACE
            )
        ]
    return []


def _figures(run: _Run) -> list[MeasuredFigure]:
    if run.gpu is not None:
        value = run.best.get("algbw", 0.0)  # one rank sends nothing over a bus
        return [MeasuredFigure(name=COPY, unit="GB/s", value=value, gpu=run.gpu)] if value else []
    value = run.best.get("busbw", 0.0)
    return [MeasuredFigure(name=ALL_REDUCE, unit="GB/s", value=value)] if value else []
