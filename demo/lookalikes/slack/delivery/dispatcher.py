"""This file is the post: it hands envelopes to the app, waits for the acknowledgement, and tries again."""

from collections.abc import Coroutine
from typing import Any

from demo.lookalikes.slack.delivery.background_tasks import BackgroundTasks
from demo.lookalikes.slack.delivery.envelopes import Delivery, Envelope
from demo.lookalikes.slack.delivery.requests import Requests
from demo.lookalikes.slack.delivery.sockets import Sockets
from demo.lookalikes.slack.state.workspace import Workspace


class Dispatcher:
    """The one way to the app: Socket Mode, or a request URL once one is set."""

    def __init__(self, workspace: Workspace, sockets: Sockets, background_tasks: BackgroundTasks) -> None:
        self._workspace = workspace
        self._sockets = sockets
        self._background_tasks = background_tasks
        self.request_url: Requests | None = None

    async def send(self, envelope: Envelope) -> str:
        """Deliver an envelope once; what is not acknowledged goes out again beside, if its kind does.

        Returns:
            Empty when it was acknowledged, else why not.
        """
        self._workspace.envelopes.append(envelope)
        reason = await self.deliver(envelope)
        if reason and reason != "no_retry" and envelope.kind in self._workspace.options.redelivers:
            self._background_tasks.start(self._again(envelope, reason), name=f"redeliver {envelope.id}")
        return reason

    def send_beside(self, envelope: Envelope) -> None:
        """Deliver it without waiting."""
        self._background_tasks.start(self.send(envelope), name=f"deliver {envelope.id}")

    def start(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        """Do something beside."""
        self._background_tasks.start(work, name)

    async def deliver(self, envelope: Envelope, reason: str = "") -> str:
        """Hand it over one more time; `reason` says why the last time failed."""
        attempt = len(envelope.deliveries)
        delivery = Delivery(attempt=attempt, at=self._workspace.clock.now())
        envelope.deliveries.append(delivery)
        way = self.request_url or self._sockets
        delivery.through, delivery.reason, response = await way.deliver(envelope, attempt, reason)
        delivery.acked = not delivery.reason
        if delivery.acked and envelope.response is None:
            envelope.response = response
        self._workspace.changes.publish()
        return delivery.reason

    async def _again(self, envelope: Envelope, reason: str) -> None:
        for wait in self._workspace.options.redelivery:
            await self._workspace.clock.sleep(wait.total_seconds())
            if envelope.acked:
                return
            reason = await self.deliver(envelope, reason)
            if not reason or reason == "no_retry":
                return
