"""The last lines of a rank with their times, without secrets."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from collectors.facts.redaction import Redactor
from collectors.trainings.training import Rank, Training
from commands.core.command import UnusableError
from commands.core.context import Cluster
from commands.core.pod_lines import FEW_LINES, PodLog, TimedLine, read_lines
from commands.training.failure_finding import rank_name

MAX_LINE = 1_000  # characters
_READ = 100  # to find a few: a private key has many lines, and is recognised by the first


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
    """Return a rank's last lines; none if no source has any."""
    log = PodLog(namespace=training.namespace, pod=rank.pod, tail=tail, since=since)
    try:
        found = await read_lines(log, cluster, redact=redact, now=now)
    except UnusableError:
        return ()
    return tuple(TimedLine(at=line.at, text=line.text[:MAX_LINE]) for line in found.lines)


async def last_lines(
    training: Training, rank: Rank, cluster: Cluster, *, redact: Redactor, now: datetime
) -> tuple[str, ...]:
    """Return the few last lines of a rank, for a card."""
    found = await lines_of_rank(training, rank, cluster, redact=redact, now=now, tail=_READ)
    return tuple(line.text for line in found[-FEW_LINES:])
