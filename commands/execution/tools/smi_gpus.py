"""GPUs as `nvidia-smi --query-gpu` prints them. Source: its manual page, drivers 535 to 580. Pure."""

import re

from collectors.acceptance.smi_words import is_lost, refusal_in
from collectors.facts.sentences import counted, listed, sentence
from commands.execution.tools.reading import ToolResult, final_line, kept

QUERIED = ("index", "name", "utilization.gpu", "memory.used", "memory.total", "temperature.gpu", "pstate")
_NUMBER = re.compile(r"\d{1,7}(?:\.\d+)?")


def read_smi_gpus(output: str, exit_code: int) -> ToolResult:
    """Return how many of the GPUs compute. A line that is cut off, or of a lost GPU, counts as not known."""
    rows, other = [], []
    for line in output.splitlines():
        parts = [part.strip() for part in line.split(",")]
        if len(parts) == len(QUERIED) and parts[0].isdecimal():
            rows.append(parts)
        elif line.strip():
            other.append(line.strip())
    lost = sum(_is_of_lost(line) for line in other)
    if not rows:
        return ToolResult(error=_error(output, exit_code))
    busy = [row for row in rows if _NUMBER.fullmatch(row[2]) and float(row[2]) > 0]
    unknown = sum(not _NUMBER.fullmatch(row[2]) for row in rows) + lost
    said = [
        counted(
            "{busy} of {count} GPU busy",
            "{busy} of {count} GPUs busy",
            count=len(rows),
            busy=len(busy),
        )
    ]
    if unknown:
        said.append(counted("{count} GPU does not answer", "{count} GPUs do not answer", count=unknown))
    lines = [
        f"GPU {row[0]} {row[1]}: {row[2]} %, {row[3]} of {row[4]} MiB, {row[5]} °C, {row[6]}" for row in rows
    ]
    return ToolResult(where=listed(said, "and"), lines=kept([*lines, *other]))


def _is_of_lost(line: str) -> bool:
    found = refusal_in(line)
    return is_lost(line) or (found is not None and found.is_lost)


def _error(output: str, exit_code: int) -> str:
    found = refusal_in(output)
    if found is not None and found.said is not None:
        return found.said
    if found is not None and found.is_lost:
        return sentence("a GPU has fallen off the bus: {words}", words=final_line(output))
    return final_line(output) or sentence("nvidia-smi ended with {code} and printed nothing", code=exit_code)
