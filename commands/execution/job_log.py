"""The log of a Job's pod: the one place where it comes in. It is bounded, without secrets, and printable."""

from collections.abc import Mapping
from typing import Any

from collectors.facts.one_line import printable
from collectors.facts.redaction import redacted
from collectors.facts.results import SourceError
from commands.execution.cluster_writer import ClusterWriter
from commands.execution.object_refs import ref_of

LINES_READ = 2_000
LINES_WHEN_LONG = 100  # of a log that has more bytes than are read: the API cuts at its end
MAX_LINE = 4_000  # characters


async def log_of(pod: Mapping[str, Any], writer: ClusterWriter, *, limit: int) -> str | None:
    """Return the last lines of the pod's log, at most `limit` bytes of them. None: it cannot be read now."""
    ref = ref_of({"apiVersion": "v1", "kind": "Pod", **pod})
    text = ""
    try:
        for tail in (LINES_READ, LINES_WHEN_LONG):
            text = await writer.pod_log(ref, tail=tail, byte_limit=limit)
            if len(text.encode()) < limit:
                break
    except SourceError:  # its container has not begun, or its kubelet does not answer
        return None
    return cleaned(text)


def cleaned(text: str) -> str:
    """Return a log as it may be stored and shown: redacted as a whole, then line by line made printable."""
    return "\n".join(printable(line, MAX_LINE) for line in redacted(text).splitlines()[-LINES_READ:])


def last_line(log: str) -> str:
    """Return the last line of the log that has something on it."""
    return next((line.strip() for line in reversed(log.splitlines()) if line.strip()), "")
