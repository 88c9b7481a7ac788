"""The log follower: reads a log again every few seconds, for as long as somebody follows it. Its card is edited."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from alerts.store import Store
from bot.jobs.due_work import DueWork
from bot.live_cluster import LiveCluster
from collectors.facts.redaction import Redactor
from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence
from commands.core.pod_lines import PodLog, api_lines
from commands.models import FOLLOWED_EVERY, LogFollow
from commands.training.followed_log import LINES_SHOWN

READ_LINES = 100  # more than are shown: a private key has many lines, and is recognised by the first
LATE = timedelta(minutes=10)  # what a process that did not run has missed is not followed any more


class LogFollower:
    def __init__(self, store: Store, clusters: Mapping[str, LiveCluster], *, redact: Redactor) -> None:
        self._store = store
        self._clusters = clusters
        self._redact = redact
        self.work = DueWork(name="followed logs", row=LogFollow, column="next_at", do=self._look)

    async def _look(self, due: LogFollow, now: datetime) -> timedelta:
        """Read its last lines, or end it. The row's change makes it due again."""
        seen = replace(due, looked_at=now)
        if now >= due.until or due.cluster not in self._clusters:
            seen = replace(seen, is_over=True)
        if now < due.until + LATE and due.cluster in self._clusters:
            seen = await self._read(seen, now)
        async with self._store.unit() as unit:
            if await unit.rows(LogFollow).get(due.id) == due:
                await unit.rows(LogFollow).put(seen)
        return FOLLOWED_EVERY

    async def _read(self, follow: LogFollow, now: datetime) -> LogFollow:
        logs = self._clusters[follow.cluster].pod_logs
        if logs is None:
            return replace(follow, problem=sentence("not connected"), is_over=True)
        try:
            wanted = PodLog(namespace=follow.namespace, pod=follow.pod, tail=READ_LINES)
            found = await api_lines(wanted, logs, redact=self._redact, now=now)
        except SourceError as error:  # its pod may be gone: the lines that were read stay
            return replace(follow, problem=said_by(error), is_over=follow.is_over or error.status == 404)
        lines = tuple(line.text[:300] for line in found[-LINES_SHOWN:])
        return replace(follow, lines=lines, problem="")
