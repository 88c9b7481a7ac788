"""Dispatch of envelopes to the app, with acknowledgement and redelivery."""

from collections.abc import Coroutine
from typing import Any

from demo.lookalikes.slack.delivery.background_tasks import BackgroundTasks
from demo.lookalikes.slack.delivery.envelopes import Delivery, Envelope
from demo.lookalikes.slack.delivery.requests import Requests
from demo.lookalikes.slack.delivery.sockets import Sockets
from demo.lookalikes.slack.state.workspace import Workspace


class Dispatcher:
    """Delivers envelopes to the app by Socket Mode, or to a request URL once one is set."""

    def __init__(self, workspace: Workspace, sockets: Sockets, background_tasks: BackgroundTasks) -> None:
        self._workspace = workspace
        self._sockets = sockets
        self._background_tasks = background_tasks
        self.request_url: Requests | None = None

    async def send(self, envelope: Envelope) -> str:
        """Deliver an envelope and return why it was not acknowledged, empty when it was.

        An unacknowledged envelope is redelivered in the background, if its kind allows it.
        """
        self._workspace.envelopes.append(envelope)
        reason = await self.deliver(envelope)
        if reason and reason != "no_retry" and envelope.kind in self._workspace.options.redelivers:
            self._background_tasks.start(self._redeliver(envelope, reason), name=f"redeliver {envelope.id}")
        return reason

    def send_beside(self, envelope: Envelope) -> None:
        """Deliver an envelope without waiting for it."""
        self._background_tasks.start(self.send(envelope), name=f"deliver {envelope.id}")

    def start(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        """Run `work` in the background."""
        self._background_tasks.start(work, name)

    async def deliver(self, envelope: Envelope, reason: str = "") -> str:
        """Deliver an envelope once more; `reason` is why the last delivery failed."""
        attempt = len(envelope.deliveries)
        delivery = Delivery(attempt=attempt, at=self._workspace.clock.now())
        envelope.deliveries.append(delivery)
        transport = self.request_url or self._sockets
        delivery.through, delivery.reason, response = await transport.deliver(envelope, attempt, reason)
        delivery.acked = not delivery.reason
        if delivery.acked and envelope.response is None:
            envelope.response = response
        self._workspace.changes.publish()
        return delivery.reason

    async def _redeliver(self, envelope: Envelope, reason: str) -> None:
        for wait in self._workspace.options.redelivery:
            await self._workspace.clock.sleep(wait.total_seconds())
            if envelope.acked:
                return
            reason = await self.deliver(envelope, reason)
            if not reason or reason == "no_retry":
                return
