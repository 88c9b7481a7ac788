"""The last lines of a rank with their times, without secrets: from the API, or from the log store."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from collectors.facts.redaction import Redactor
from collectors.facts.results import SourceError
from collectors.trainings.training import Rank, Training
from commands.core.context import Cluster
from commands.training.failure_finding import rank_name
from commands.training.failure_signs import TimedLine

MAX_LOG = 1 << 18  # bytes of one rank
MAX_LINE = 1_000  # characters


def ranks_of(training: Training) -> list[Rank]:
    """Return the ranks whose lines may be read, each once: those that failed first before the others."""
    return list({rank_name(rank): rank for rank in (*training.failures, *training.ranks)}.values())


async def lines_of_rank(
    training: Training,
    rank: Rank,
    cluster: Cluster,
    *,
    redact: Redactor,
    now: datetime,
    tail: int,
    since: timedelta | None = None,
) -> Sequence[TimedLine]:
    """Return a rank's last lines from the API, or from the log store when its pod is gone; none if neither has any."""
    try:
        if cluster.pod_logs is not None:
            log = await cluster.pod_logs.logs(
                training.namespace, rank.pod, tail=tail, byte_limit=MAX_LOG, timestamps=True, since=since
            )
            if log.strip():
                return clean_lines(timed_lines(log), redact)
    except SourceError:
        pass
    try:
        if cluster.logs is not None:
            where = {"namespace": training.namespace, "pod": rank.pod}
            begin = now - since if since is not None else None
            found = await cluster.logs.lines(where=where, at=now, since=begin, tail=tail)
            return tuple(TimedLine(at=line.at, text=line.text) for line in found)
    except SourceError:
        pass
    return ()


def clean_lines(lines: Sequence[TimedLine], redact: Redactor) -> tuple[TimedLine, ...]:
    """Return the lines without secrets. A key of many lines is only recognised as a whole: none of its lines stays."""
    kept: list[TimedLine] = []
    is_in_key = False
    for line in lines:
        is_in_key = is_in_key or "-----BEGIN" in line.text
        if not is_in_key:
            kept.append(line)
        is_in_key = is_in_key and "-----END" not in line.text
    texts = redact.clean("\n".join(one.text for one in kept), limit=MAX_LOG).splitlines()
    if len(texts) != len(kept):
        texts = [redact.clean(one.text) for one in kept]
    return tuple(TimedLine(at=line.at, text=text[:MAX_LINE]) for line, text in zip(kept, texts, strict=True))


def timed_lines(log: str) -> tuple[TimedLine, ...]:
    """Return the lines of a log in which the API has put a time before each; lines without one are left out."""
    found = []
    for line in log.splitlines():
        stamp, _, text = line.partition(" ")
        try:
            at = datetime.fromisoformat(stamp)
        except ValueError:
            continue
        if at.tzinfo is not None:
            found.append(TimedLine(at=at, text=text))
    return tuple(found)
