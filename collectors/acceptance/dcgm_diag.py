"""`dcgmi diag -j`: DCGM's own diagnostic, as its versions 2, 3 and 4 print it.

Versions 1.7 to 3 have `DCGM GPU Diagnostic` with `gpu_ids` in each result; 4 has `DCGM Diagnostic` with `entity_group`
and `entity_id`, and the versions in `metadata`. Warnings are strings, and since 3.1 objects with DCGM's own severity.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from collectors.acceptance import printed
from collectors.acceptance.reader_results import bounded_result, output_reader, proves_nothing, unread
from collectors.acceptance.readings import MeasuredFigure, NextStep, PartReport, PartState, ReadResult
from collectors.facts.sentences import sentence

_ROOTS = ("DCGM Diagnostic", "DCGM GPU Diagnostic")
# The host engine may print a warning before it.
_BEGINNING = re.compile(r'\{\s*"(?:DCGM (?:GPU )?Diagnostic|metadata|entity_groups|runtime_error)"')
_BEGINNINGS = 8
_PASSED, _FAILED, _WARNED = ("pass", "passed"), ("fail", "failed", "error"), ("warn", "warning")
_SOFTWARE = "deployment"  # the category that tests no hardware
_BANDWIDTH = re.compile(r"(GPU to Host|Host to GPU|bidirectional) bandwidth:\s*([0-9.]{1,12}) GB/s")
_MOST = 4096  # of the categories, tests, results and messages that are read

# dcgmErrorSeverity_t of dcgm_errors.h
_OF_SEVERITY = {2: NextStep.REPLACE, 4: NextStep.LOOK, 5: NextStep.CONFIGURE, 6: NextStep.RESET}
_CONFIGURABLE = 5  # DCGM_ERROR_CONFIG: persistence mode that is off fails every GPU, and breaks none
_OF_NAME = (  # the first whose words are in the test's name, where a version gives no severity
    (("inforom", "memory", "memtest"), NextStep.REPLACE),
    (("retire", "remap"), NextStep.RESET),
    (("pcie", "nvlink", "nvswitch", "nvbandwidth"), NextStep.REBOOT),
    (("software", "library", "permission", "denylist", "persistence", "environment"), NextStep.CONFIGURE),
)


@output_reader
def read_dcgm_diag(text: str) -> ReadResult:
    """Return what DCGM found, by GPU. A run that tested no hardware proves nothing."""
    found, is_whole = _json_in(text)
    if found is None:
        return proves_nothing(unread(text, has_begun=not is_whole))
    root: Mapping[str, Any] = next((found[one] for one in _ROOTS if isinstance(found.get(one), dict)), {})
    metadata = found.get("metadata")
    said: Mapping[str, Any] = metadata if isinstance(metadata, dict) else root
    versions = {
        "DCGM": printed.name(said.get("version")),
        "driver": printed.name(said.get("Driver Version Detected")),
    }
    findings: list[PartReport] = []
    figures: list[MeasuredFigure] = []
    passed = of_hardware = 0
    for category, name, result in _results(root):
        status = printed.name(result.get("status")).lower()
        if status in _PASSED:
            passed += 1
            of_hardware += category.lower() != _SOFTWARE
        else:
            findings += _findings(name, status, result)
        figures += _figures(result)
    error = printed.words(root.get("runtime_error")) or printed.words(found.get("runtime_error"))
    return bounded_result(
        findings=findings,
        figures=figures,
        versions=versions,
        passed=passed,
        problem=_problem(error, findings, passed, of_hardware),
    )


def _problem(error: str, findings: list[PartReport], passed: int, of_hardware: int) -> str:
    if error:
        return sentence("DCGM could not run: {error}", error=error)
    if any(one.outcome is PartState.FAILED for one in findings) or of_hardware:
        return ""
    why = next((one.said for one in findings if one.said), "")
    if why:
        return sentence("DCGM tested no hardware: {why}", why=why)
    if passed or findings:
        return sentence("DCGM tested no hardware")
    return sentence("DCGM reported no result")


def _json_in(text: str) -> tuple[dict[str, Any] | None, bool]:
    """Return the diagnostic in the text, and whether a part of it is not missing."""
    # Our script folds it after spaces, also within strings.
    read, is_whole = text[: printed.MOST_READ].replace("\n", ""), True
    decoder = json.JSONDecoder()
    for number, match in enumerate(_BEGINNING.finditer(read)):
        if number == _BEGINNINGS:
            break
        try:
            found, _ = decoder.raw_decode(read, match.start())
        except (ValueError, RecursionError):
            is_whole = is_whole and not any(f'"{one}"' in read for one in _ROOTS)
            continue
        if isinstance(found, dict) and any(one in found for one in _ROOTS):
            return found, True
    return None, is_whole and not printed.is_cut(text)


def _results(root: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the category, the test's name and each of its results."""
    left = _MOST
    for category in _dicts(root.get("test_categories")):
        for test in _dicts(category.get("tests")):
            for result in _dicts(test.get("results")):
                if not left:
                    return
                left -= 1
                yield printed.name(category.get("category")), printed.name(test.get("name")), result


def _dicts(found: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(found, list):
        yield from (one for one in found[:_MOST] if isinstance(one, dict))


def _findings(name: str, status: str, result: Mapping[str, Any]) -> list[PartReport]:
    warnings = list(_warnings(result.get("warnings")))
    said = "; ".join(words for words, _ in warnings[:4]) or next(_messages(result.get("info")), "")
    severities = {severity for _, severity in warnings if severity is not None}
    if status in _FAILED:
        outcome = PartState.FAILED
        if severities == {_CONFIGURABLE}:
            outcome = PartState.WARNED
    else:
        outcome = PartState.WARNED if status in _WARNED else PartState.SKIPPED
    return [
        PartReport(
            part=name or "DCGM",
            gpu=gpu,
            outcome=outcome,
            said=printed.words(said),
            next_step=_next_step(name, severities),
        )
        for gpu in _gpus(result)
    ]


def _next_step(name: str, severities: set[int]) -> NextStep:
    known = [step for severity, step in _OF_SEVERITY.items() if severity in severities]
    if known:
        return known[0]
    for words, step in _OF_NAME:
        if any(word in name.lower() for word in words):
            return step
    return NextStep.RESET if not severities else NextStep.LOOK


def _gpus(result: Mapping[str, Any]) -> tuple[int | None, ...]:
    """Return the GPU of a result; None for one of the node, or of all its GPUs at once."""
    if "entity_id" in result:
        group = printed.name(result.get("entity_group"))
        return (printed.gpu_of(result["entity_id"]) if group.upper() in ("GPU", "") else None,)
    written = str(result.get("gpu_ids", result.get("gpu_id", "")))[:2_000]
    ids = [gpu for one in written.split(",") if (gpu := printed.gpu_of(one)) is not None]
    return (ids[0],) if len(ids) == 1 else (None,)


def _warnings(found: object) -> Iterator[tuple[str, int | None]]:
    """Yield the words of each warning, and DCGM's severity if it says so."""
    for one in _listed(found):
        if isinstance(one, dict):
            severity = one.get("error_severity")
            yield printed.words(one.get("warning")), severity if type(severity) is int else None
        elif words := printed.words(one):
            yield words, None


def _messages(found: object) -> Iterator[str]:
    return (words for one in _listed(found) if (words := printed.words(one)))


def _listed(found: object) -> Iterable[object]:
    return found[:_MOST] if isinstance(found, list) else (found,)


def _figures(result: Mapping[str, Any]) -> Iterator[MeasuredFigure]:
    """Yield the bandwidths of PCIe, which are in the words of the test."""
    gpu = _gpus(result)[0]
    if gpu is None:
        return
    for words in _messages(result.get("info")):
        for direction, written in _BANDWIDTH.findall(words):
            if (value := printed.figure(written)) is not None:
                yield MeasuredFigure(name=f"PCIe {direction}", unit="GB/s", value=value, gpu=gpu)
