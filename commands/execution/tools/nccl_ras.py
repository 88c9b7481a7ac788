"""The status that `ncclras` prints. Source: NCCL, src/ras/client_support.cc and its user guide, 2.24 to 2.30. Pure."""

import re

from collectors.facts.sentences import counted, listed, sentence
from commands.execution.tools.reading import ToolResult, final_line, kept

_RUNNING = re.compile(
    r"\s*\d+\s+(?P<comms>\d+)\s+\d+\s+[\d-]+\s+\d+\s+(?P<ranks>\d+)\s+(?P<status>[A-Z]+)\s+(?P<errors>[A-Z,]+)\s*"
)
_RANK = re.compile(r"\s*(?:Rank (?P<rank>\d+)\b.* -- (?P<who>.*)|The missing ranks?: (?P<missing>[\d, -]+))")
_DEAD = re.compile(r"\s*(?P<count>\d+) job process(?:es are| is) considered dead.*")
_BEHIND = re.compile(
    r"\s*(?P<count>\d+) ranks? ha(?:ve|s) (?:launched up to operation (?P<number>\d+)|not launched any operations).*"
)
_ONE_BEHIND = re.compile(
    r"\s*Rank (?P<rank>\d+) has (?:launched up to operation (?P<number>\d+)|not launched any operations)\b.*"
)
_REFUSED = re.compile(r"(?i)connection refused|failed to connect|could not connect")


def read_ras_status(output: str, exit_code: int) -> ToolResult:
    """Return how the communicators are: all well, ranks missing or dead, or some that are behind."""
    groups = [found for line in output.splitlines() if (found := _RUNNING.fullmatch(line))]
    notable = _notable(output)
    if not groups and not notable:
        return ToolResult(error=_error(output, exit_code))
    said: list[str] = []
    dead = sum(int(found["count"]) for line in output.splitlines() if (found := _DEAD.fullmatch(line)))
    if dead:
        said.append(counted("{count} process is dead", "{count} processes are dead", count=dead))
    missing = _missing(output)
    if missing:
        said.append(sentence("no answer from rank {ranks}", ranks=listed(missing, most=8)))
    behind = _behind(output)
    if behind:
        said.append(behind)
    if not said:
        errors = {found["errors"] for found in groups} - {"OK"}
        said = [
            sentence("communicators report {errors}", errors=listed(sorted(errors)))
            if errors
            else counted(
                "{count} communicator is healthy",
                "{count} communicators are healthy",
                count=sum(int(one["comms"]) for one in groups),
            )
        ]
    return ToolResult(where=listed(said, "and"), lines=kept(notable or [found.group() for found in groups]))


def _notable(output: str) -> list[str]:
    """Return the lines under `Errors` and `Warnings`, which say what is wrong."""
    lines = output.splitlines()
    starts = [at for at, line in enumerate(lines) if line.strip() in ("Errors", "Warnings")]
    return (
        [line for line in lines[starts[0] :] if line.strip() and set(line.strip()) != {"="}] if starts else []
    )


def _missing(output: str) -> list[str]:
    found: list[str] = []
    is_missing = False
    for line in output.splitlines():
        if "INCOMPLETE" in line:
            is_missing = True
        elif is_missing and not _ONE_BEHIND.fullmatch(line) and (rank := _RANK.fullmatch(line)):
            found += [rank["rank"]] if rank["rank"] else re.findall(r"\d+", rank["missing"] or "")
        elif not line.strip():
            is_missing = False
    return list(dict.fromkeys(found))


def _behind(output: str) -> str:
    """Return how many ranks are behind the others in the number of their collective operations."""
    counts = [
        (int(found["number"] or 0), int(found["count"]), "")
        for line in output.splitlines()
        if (found := _BEHIND.fullmatch(line))
    ]
    counts += [
        (int(found["number"] or 0), 1, found["rank"])
        for line in output.splitlines()
        if (found := _ONE_BEHIND.fullmatch(line))
    ]
    if len(counts) < 2:
        return ""
    (behind, count, rank), (ahead, *_) = min(counts), max(counts)
    if rank:
        return sentence(
            "rank {rank} is at operation {behind}, others at {ahead}", rank=rank, behind=behind, ahead=ahead
        )
    return counted(
        "{count} rank is at operation {behind}, others at {ahead}",
        "{count} ranks are at operation {behind}, others at {ahead}",
        count=count,
        behind=behind,
        ahead=ahead,
    )


def _error(output: str, exit_code: int) -> str:
    if _REFUSED.search(output):
        return sentence("no NCCL 2.24 or newer answers there: its RAS is off, or NCCL has not begun")
    return final_line(output) or sentence("ncclras ended with {code} and printed nothing", code=exit_code)
