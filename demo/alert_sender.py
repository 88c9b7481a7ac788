"""Another program that sends alerts: the power monitoring of the racks, with the API of an Alertmanager."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import aiohttp

LOG = logging.getLogger(__name__)
AGAIN_EVERY = 5.0  # seconds: as Prometheus does, more slowly
ANSWERS_WITHIN = aiohttp.ClientTimeout(total=20)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentAlert:
    """One alert for each of the nodes, as a scenario describes it."""

    alertname: str
    nodes: Sequence[str]
    summary: str
    severity: str = "critical"


@dataclass(slots=True, kw_only=True)
class AlertSender:
    """It sends what stands again and again, and at its end that it is over, until somebody takes it."""

    address: Callable[[], str]  # of Yardmaster's HTTP server
    token: str
    now: Callable[[], datetime]
    _standing: list[tuple[SentAlert, datetime]] = field(default_factory=list)
    _ended: list[dict[str, Any]] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def start(self, alert: SentAlert) -> None:
        self._standing.append((alert, self.now()))
        self._changed.set()

    def end(self) -> None:
        """Let everything that stands be over."""
        ends = self.now()
        self._ended += [one for alert, since in self._standing for one in _bodies(alert, since, ends)]
        self._standing.clear()
        self._changed.set()

    async def run(self) -> None:
        async with aiohttp.ClientSession(timeout=ANSWERS_WITHIN) as session:
            while True:
                self._changed.clear()
                await self._send(session)
                try:
                    async with asyncio.timeout(AGAIN_EVERY):
                        await self._changed.wait()
                except TimeoutError:
                    continue

    async def _send(self, session: aiohttp.ClientSession) -> None:
        ended = list(self._ended)
        standing = [
            one
            for alert, since in self._standing
            for one in _bodies(alert, since, self.now() + timedelta(minutes=4))
        ]
        if not standing and not ended:
            return
        headers: Mapping[str, str] = {"Authorization": f"Bearer {self.token}"}
        try:
            async with session.post(
                f"{self.address()}/api/v2/alerts", json=[*ended, *standing], headers=headers
            ) as answer:
                if answer.status != 200:
                    LOG.warning("alerts were not taken: %s %s", answer.status, await answer.text())
                    return
        except (aiohttp.ClientError, TimeoutError) as error:
            LOG.warning("alerts were not sent: %s", error)
            return
        self._ended = [one for one in self._ended if one not in ended]


def _bodies(alert: SentAlert, since: datetime, ends: datetime) -> list[dict[str, Any]]:
    return [
        {
            "labels": {"alertname": alert.alertname, "severity": alert.severity, "node": node},
            "annotations": {"summary": alert.summary.replace("{node}", node)},
            "startsAt": since.isoformat(),
            "endsAt": ends.isoformat(),
        }
        for node in alert.nodes
    ]
