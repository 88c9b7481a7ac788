"""A look-alike of PagerDuty's Events API, version 2, on loopback: it checks events as documented, and keeps alerts.

Source: https://developer.pagerduty.com/docs/events-api-v2/trigger-events/
"""

import json
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.support.serving import serving

ROUTING_KEY = "r0ut1ngk3yr0ut1ngk3yr0ut1ngk3y32"
MAX_BODY = 512 << 10
ACTIONS = ("trigger", "acknowledge", "resolve")
SEVERITIES = ("critical", "error", "warning", "info")


@dataclass(slots=True, kw_only=True)
class PagerDutyAlert:
    """An alert as people see it. `notified`: how often it was triggered when there was none open."""

    summary: str
    state: str
    notified: int = 1


@dataclass(slots=True)
class PagerDutyLookalike:
    """`alerts` by key. `answers`: status and headers of the next answers; then events are taken."""

    url: str = ""
    alerts: dict[str, PagerDutyAlert] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)  # that were taken
    answers: deque[tuple[int, Mapping[str, str]]] = field(default_factory=deque)

    def answer(self, status: int, **headers: str) -> None:
        """Answer the next event like this, and do not take it."""
        self.answers.append((status, {name.replace("_", "-"): value for name, value in headers.items()}))

    async def receive(self, request: web.Request) -> web.Response:
        if self.answers:
            status, headers = self.answers.popleft()
            return web.json_response({"status": "throttle exceeded"}, status=status, headers=headers)
        body = await request.read()
        event = json.loads(body)
        if errors := list(_mistakes(event, len(body))):
            return web.json_response(
                {"status": "invalid event", "message": "Event object is invalid", "errors": errors},
                status=400,
            )
        self.events.append(event)
        self._take(event)
        answer = {"status": "success", "message": "Event processed", "dedup_key": event["dedup_key"]}
        return web.json_response(answer, status=202)

    def _take(self, event: dict[str, Any]) -> None:
        key, action = event["dedup_key"], event["event_action"]
        known = self.alerts.get(key)
        is_open = known is not None and known.state != "resolved"
        if action == "trigger" and known is not None:
            known.summary = event["payload"]["summary"]
            if not is_open:
                known.state, known.notified = "triggered", known.notified + 1
        elif action == "trigger":
            self.alerts[key] = PagerDutyAlert(summary=event["payload"]["summary"], state="triggered")
        elif known is not None and is_open:  # else it changes nothing
            known.state = "acknowledged" if action == "acknowledge" else "resolved"

    @classmethod
    @asynccontextmanager
    async def running(cls) -> "AsyncIterator[PagerDutyLookalike]":
        pagerduty = cls()
        async with serving("/v2/enqueue", pagerduty.receive, largest=4 << 20) as pagerduty.url:
            yield pagerduty


def _mistakes(event: dict[str, Any], size: int) -> Any:
    """Yield what PagerDuty refuses in an event."""
    if event.get("routing_key") != ROUTING_KEY:
        yield "Invalid routing key"
    if event.get("event_action") not in ACTIONS:
        yield "'event_action' is invalid"
    if not 0 < len(event.get("dedup_key", "")) <= 255:
        yield "'dedup_key' is missing, or longer than 255 characters"
    payload = event.get("payload", {})
    if event.get("event_action") == "trigger":
        if not 0 < len(payload.get("summary", "")) <= 1024:
            yield "'payload.summary' is missing, or longer than 1024 characters"
        if not payload.get("source"):
            yield "'payload.source' is missing or blank"
        if payload.get("severity") not in SEVERITIES:
            yield "'payload.severity' is invalid"
    if any(not link.get("href") for link in event.get("links", ())):
        yield "'links' has one without 'href'"
    if size > MAX_BODY:
        yield "event is larger than 512 KB"
