"""Senders of alerts: one that posts until they are taken, and one that repeats, as Prometheus does."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import aiohttp

from collectors.facts.clock import SystemClock

STANDS = timedelta(minutes=4)  # until a repeat, as Prometheus says of what it sends each minute
AGAIN = 0.2  # seconds until an alert that was not taken is sent again
PATH = "/api/v2/alerts"

Posted = dict[str, Any]  # an alert as it is sent


def firing(labels: Mapping[str, str], *, since: datetime | None = None, **annotations: str) -> Posted:
    """Return an alert that stands."""
    now = SystemClock().now()
    return {
        "labels": dict(labels),
        "annotations": annotations,
        "startsAt": (since or now).isoformat(),
        "endsAt": (now + STANDS).isoformat(),
    }


def over(alert: Posted, at: datetime | None = None) -> Posted:
    """Return the alert at its end."""
    return {**alert, "endsAt": (at or SystemClock().now()).isoformat()}


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertSender:
    """Posts to a program that speaks Alertmanager's API, version 2. The program may be away."""

    session: aiohttp.ClientSession
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)

    async def post(self, alerts: Sequence[Posted]) -> bool:
        """Post them once. Return whether they were taken; raises ValueError if they are refused for good."""
        try:
            async with self.session.post(self.url + PATH, json=alerts, headers=self.headers) as answer:
                if answer.status in (400, 401, 403, 404):
                    raise ValueError(f"{answer.status}: {await answer.text()}")
                return answer.status == 200
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False

    async def post_until_taken(self, alerts: Sequence[Posted]) -> None:
        """Post them until they are taken, and never again."""
        while not await self.post(alerts):  # noqa: ASYNC110 - the answer is what it waits for
            await asyncio.sleep(AGAIN)


@dataclass(slots=True, kw_only=True)
class RepeatingSender:
    """Sends what stands each `every`, whether it was taken or not, and what is over for as long as it runs."""

    sender: AlertSender
    every: timedelta
    alerts: dict[str, Posted] = field(default_factory=dict)  # by a name of the caller's

    def begins(self, name: str, alert: Posted) -> None:
        self.alerts[name] = alert

    def ends(self, name: str) -> None:
        self.alerts[name] = over(self.alerts[name])

    async def run(self) -> None:
        while True:
            await self.send()
            await asyncio.sleep(self.every.total_seconds())

    async def send(self) -> None:
        now = SystemClock().now()
        if self.alerts:
            await self.sender.post([_again(alert, now) for alert in self.alerts.values()])


def _again(alert: Posted, now: datetime) -> Posted:
    """Return it with a later end, unless it is over."""
    if datetime.fromisoformat(alert["endsAt"]) <= now:
        return alert
    return {**alert, "endsAt": (now + STANDS).isoformat()}
