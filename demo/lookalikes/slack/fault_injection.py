"""This file is what tests order to go wrong: errors, lost and late answers, dropped sockets, a Slack that is down."""

from datetime import timedelta

from demo.lookalikes.slack.delivery.dispatcher import Dispatcher
from demo.lookalikes.slack.delivery.envelopes import Envelope
from demo.lookalikes.slack.delivery.sockets import Sockets
from demo.lookalikes.slack.state.faults import Fault
from demo.lookalikes.slack.state.workspace import Workspace


class FaultInjection:
    """The troubles' side. `method` may be `*` for any."""

    workspace: Workspace
    sockets: Sockets
    post: Dispatcher

    def fail(
        self, method: str, trouble: str | int, times: int = 1, *, retry_after: int | None = None
    ) -> None:
        """Answer the next calls with an error word or an HTTP status, and do nothing.

        `ratelimited` comes with status 429 and a Retry-After of `retry_after` seconds (1).
        """
        word = trouble if isinstance(trouble, str) else None
        status = trouble if isinstance(trouble, int) else None
        self._order(Fault(method=method, times=times, error=word, status=status, retry_after=retry_after))

    def lose_reply(self, method: str, times: int = 1, *, hold: bool = False) -> None:
        """Do what is asked and drop the connection; with `hold` leave it open and silent instead."""
        self._order(Fault(method=method, times=times, lose_reply=True, hold=hold))

    def lose_call(self, method: str, times: int = 1) -> None:
        """Drop the connection and do nothing."""
        self._order(Fault(method=method, times=times, lose_call=True))

    def late(self, method: str, seconds: float, times: int = 1, *, lose_reply: bool = False) -> None:
        """Do what is asked only after so long, whether the caller is still there or not."""
        self._order(Fault(method=method, times=times, late=seconds, lose_reply=lose_reply))

    def forgive(self) -> None:
        """Take all ordered faults back."""
        self.workspace.faults.ordered.clear()

    def latency(self, seconds: float) -> None:
        """Let every answer take so long."""
        self.workspace.faults.latency = seconds

    def down(self, how: str = "refused") -> None:
        """Slack is gone: connections end without an answer (`refused`), or with status 503 (`503`)."""
        self.workspace.faults.down = how
        self.sockets.drop()

    def up(self) -> None:
        """Slack is back."""
        self.workspace.faults.down = None

    def drop_socket(self) -> int:
        """Cut all Socket Mode connections without a word; returns how many there were."""
        return self.sockets.drop()

    async def refresh_socket(self) -> None:
        """Ask for new connections, as Slack does every few hours."""
        await self.sockets.refresh()

    def redeliver(self, envelope: Envelope, *, after: float = 0.0) -> None:
        """Hand an envelope over once more, acknowledged or not."""

        async def again() -> None:
            await self.workspace.clock.sleep(after)
            await self.post.deliver(envelope, "timeout")

        self.post.start(again(), f"redeliver {envelope.id} on order")

    def archive(self, where: str) -> None:
        """Archive a channel."""
        self._set_archived(where, archived=True)

    def unarchive(self, where: str) -> None:
        """Bring a channel back."""
        self._set_archived(where, archived=False)

    def revoke(self, error: str = "token_revoked") -> None:
        """Make the tokens meet `token_revoked` or `account_inactive`."""
        self.workspace.token_trouble = error

    def restore(self) -> None:
        """Make the tokens good again."""
        self.workspace.token_trouble = None

    def forward(self, by: timedelta) -> None:
        """Push the time here forward: rates, triggers, response addresses, edit windows, redeliveries."""
        self.workspace.clock.forward(by)

    def _set_archived(self, where: str, *, archived: bool) -> None:
        self.workspace.directory.channel(where).archived = archived
        self.workspace.changes.publish({"kind": "reload", "only_for": None})

    def _order(self, fault: Fault) -> None:
        self.workspace.faults.order(fault)
