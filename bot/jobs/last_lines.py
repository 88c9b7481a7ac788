"""The last log lines of a task that failed, without secrets: from the API, or from the log store."""

from datetime import datetime

import structlog

from bot.live_cluster import LiveCluster
from collectors.facts.redaction import Redactor
from collectors.facts.results import SourceError
from collectors.trainings.training import Rank

LAST_LINES = 12
READ_LINES = 100  # read to find them: a private key has many lines, and is recognized by the first
MAX_LOG = 1 << 18  # bytes of those; above it only the last are read, because the API cuts at the end
MAX_LINE = 1_000  # characters

_log = structlog.get_logger()


async def last_lines(
    namespace: str, rank: Rank, cluster: LiveCluster, *, redact: Redactor, now: datetime
) -> tuple[str, ...]:
    """Return them from the API, or from the log store when the pod is gone; none where neither has any."""
    try:
        if cluster.pod_logs is not None:
            log, pod = "", cluster.pod_logs
            for tail in (READ_LINES, LAST_LINES):
                log = await pod.logs(namespace, rank.pod, tail=tail, byte_limit=MAX_LOG)
                if len(log.encode()) < MAX_LOG:
                    break
            if log.strip():
                lines = redact.clean(log, limit=MAX_LOG).splitlines()
                return tuple(line[:MAX_LINE] for line in lines[-LAST_LINES:])
    except SourceError as error:
        _log.info("log is not available from the API", pod=rank.pod, error=str(error))
    try:
        if cluster.logs is not None:
            where = {"namespace": namespace, "pod": rank.pod}
            found = await cluster.logs.lines(where=where, at=now, tail=LAST_LINES)
            return tuple(line.text for line in found)
    except SourceError as error:
        _log.info("log is not available from Elasticsearch", pod=rank.pod, error=str(error))
    return ()
