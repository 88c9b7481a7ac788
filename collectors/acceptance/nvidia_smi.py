"""`nvidia-smi --query-gpu=… --format=csv`: what the driver says of each GPU.

The columns are read by their names, as the heading has them: newer drivers say `clocks_event_reasons` for
`clocks_throttle_reasons`, and what cannot be read is `[N/A]`, `[Not Supported]`, `[Unknown Error]` or `ERR!`.
"""

import re
from collections.abc import Mapping

from collectors.acceptance import printed
from collectors.acceptance.reader_results import IS_CUT, bounded_result, output_reader, unread
from collectors.acceptance.readings import NextStep, PartReport, PartState, ReadResult
from collectors.acceptance.smi_words import is_lost, refusal_in
from collectors.facts.sentences import counted, sentence

QUERY = (  # what our suite asks for; a driver that does not know one of them refuses them all
    "index,name,uuid,driver_version,vbios_version,memory.total,pcie.link.width.current,pcie.link.width.max,"
    "ecc.errors.uncorrected.volatile.total,remapped_rows.pending,remapped_rows.failure,temperature.gpu"
)
_UNIT = re.compile(r"\s*\[[^\]]*\]$")
_ABSENT = ("", "n/a", "[n/a]", "[not supported]", "not supported", "not active")
_REASONS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")
_HARDWARE = {0x8: "hw_slowdown", 0x40: "hw_thermal_slowdown", 0x80: "hw_power_brake_slowdown"}


@output_reader
def read_nvidia_smi(text: str) -> ReadResult:
    """Return what is wrong with each GPU by its driver's own words, and the versions of driver and firmware."""
    columns: list[str] = []
    findings: list[PartReport] = []
    versions: dict[str, str] = {}
    rows = 0
    was_cut = False
    for raw in printed.lines(text):
        line = raw.strip()[:4_000]
        values = [one.strip() for one in line.split(",")]
        names = [_UNIT.sub("", one).lower() for one in values]
        if not columns and names[0] == "index" and len(names) > 1:
            columns = names
        elif columns and len(values) == len(columns) and rows < printed.GPUS_READ:
            row = dict(zip(columns, values, strict=True))
            if (gpu := printed.gpu_of(row["index"])) is None:
                continue
            rows += 1
            findings += _of_gpu(gpu, row)
            for name, key in (("driver", "driver_version"), ("VBIOS", "vbios_version"), ("GPU", "name")):
                said = printed.name(row.get(key, ""))
                if said and said not in versions.get(name, "").split(" / "):
                    versions[name] = printed.name(" / ".join(filter(None, (versions.get(name), said))))
        elif (refusal := refusal_in(line)) is not None:
            findings.append(
                PartReport(
                    part="driver",
                    outcome=PartState.FAILED,
                    said=printed.words(line),
                    next_step=refusal.next_step,
                )
            )
        elif columns and "," in line:
            was_cut = True
    problem = ""
    if not rows and not findings:
        problem = unread(text, has_begun=bool(columns))
    elif was_cut and not findings:
        problem = IS_CUT
    failed = {one.gpu for one in findings if one.outcome is PartState.FAILED}
    return bounded_result(
        findings=findings, versions=versions, passed=max(0, rows - len(failed)), gpus=rows, problem=problem
    )


def _of_gpu(gpu: int, row: Mapping[str, str]) -> list[PartReport]:
    found: list[PartReport] = []

    def add(part: str, said: str, step: NextStep, outcome: PartState = PartState.FAILED) -> None:
        found.append(PartReport(part=part, gpu=gpu, outcome=outcome, said=said, next_step=step))

    lost = next((value for value in row.values() if is_lost(value)), None)
    if lost is not None:
        step = NextStep.RESET if "reset" in lost.lower() else NextStep.REBOOT
        add("GPU", sentence("the driver answers {said}", said=printed.words(lost)), step)
    if row.get("remapped_rows.failure", "").lower() in ("yes", "1"):
        add("memory", sentence("a row of its memory could not be remapped"), NextStep.REPLACE)
    elif row.get("remapped_rows.pending", "").lower() in ("yes", "1"):
        add("memory", sentence("rows of its memory wait for a reset to be remapped"), NextStep.RESET)
    errors = _value(row, "ecc.errors.uncorrected.volatile.total")
    if errors:
        add(
            "memory",
            counted("{count:g} uncorrected ECC error", "{count:g} uncorrected ECC errors", count=errors),
            NextStep.RESET,
        )
    width, most = _value(row, "pcie.link.width.current"), _value(row, "pcie.link.width.max")
    if width and most and width < most:
        said = sentence("its PCIe link has {width:g} of {most:g} lanes", width=width, most=most)
        add("PCIe", said, NextStep.REBOOT)
    if reasons := _reasons(row):
        add("clocks", sentence("held back by {reasons}", reasons=reasons), NextStep.LOOK, PartState.WARNED)
    return found


def _value(row: Mapping[str, str], key: str) -> float | None:
    written = row.get(key, "")
    return None if written.lower() in _ABSENT else printed.figure(written.split(" ")[0])


def _reasons(row: Mapping[str, str]) -> str:
    written = next((row[one] for one in _REASONS if one in row), "")
    if not re.fullmatch(r"0x[0-9a-fA-F]{1,16}", written):
        return ""
    mask = int(written, 16)
    return ", ".join(name for bit, name in _HARDWARE.items() if mask & bit)
