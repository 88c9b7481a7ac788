"""HTTP endpoints for alerts of other programs: Alertmanager's API, version 2, and a receiver of its webhook.

Senders are answered as Alertmanager answers: 200 once no crash can lose the alerts, 400 with the reason as JSON, and
503 with `Retry-After` when they cannot be stored now.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import msgspec
from aiohttp import web

from bot.http.gate import error_answer
from bot.http.openapi_errors import REQUIRED, UNREADABLE, openapi_error
from bot.http.senders import NO_TOKEN, Sender, sender_of
from bot.metrics import Metrics
from bot.receiving.alert_inbox import AlertInbox
from bot.receiving.posted_alerts import BodyError, PostedAlerts, ReadingOptions, posted_alerts, webhook_alerts
from bot.receiving.receiver import BusyError
from collectors.facts.clock import Clock

RETRY_AFTER = "5"  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertEndpoints:
    """What the endpoints need. `webhook_lasts`: how long an alert of a webhook stands that is not sent again."""

    inbox: AlertInbox
    options: ReadingOptions
    webhook_lasts: timedelta
    senders: Sequence[Sender]
    clock: Clock
    metrics: Metrics

    def add_to(self, app: web.Application) -> None:
        """Add the routes to the application."""
        app.router.add_post("/api/v2/alerts", self._post)
        app.router.add_post("/hooks/alertmanager", self._hook)

    async def _post(self, request: web.Request) -> web.Response:
        body = await request.read()
        return await self._take(request, lambda: posted_alerts(body, self.options, self.clock.now()))

    async def _hook(self, request: web.Request) -> web.Response:
        options = replace(self.options, lasts=self.webhook_lasts)
        body = await request.read()
        return await self._take(request, lambda: webhook_alerts(body, options, self.clock.now()))

    async def _take(self, request: web.Request, read: Callable[[], Awaitable[PostedAlerts]]) -> web.Response:
        if sender_of(request.headers, self.senders) is None:
            return error_answer(401, NO_TOKEN)
        try:
            posted = await read()
        except BodyError as error:
            if error.is_missing:
                return openapi_error(REQUIRED, str(error))
            return openapi_error(UNREADABLE, f'parsing alerts body from "" failed, because {error}')
        try:
            await self.inbox.accept(posted.alerts)
        except BusyError as error:
            return busy_answer(str(error))
        self.metrics.alerts_received.inc(len(posted.alerts))
        self.metrics.alerts_invalid.inc(len(posted.refused) + posted.unnamed)
        return _refusal(400, posted.refusal) if posted.refused else web.Response()


def busy_answer(reason: str) -> web.Response:
    return web.Response(status=503, text=f"{reason}\n", headers={"Retry-After": RETRY_AFTER})


def _refusal(status: int, reason: str) -> web.Response:
    return web.Response(status=status, body=msgspec.json.encode(reason), content_type="application/json")
