"""Faults that tests inject: errors, lost and late replies, dropped sockets, an outage."""

from datetime import timedelta

from demo.lookalikes.slack.delivery.dispatcher import Dispatcher
from demo.lookalikes.slack.delivery.envelopes import Envelope
from demo.lookalikes.slack.delivery.sockets import Sockets
from demo.lookalikes.slack.state.faults import Fault
from demo.lookalikes.slack.state.workspace import Workspace


class FaultInjection:
    """Methods that inject faults. `method` may be `*` for any."""

    workspace: Workspace
    sockets: Sockets
    post: Dispatcher

    def fail(self, method: str, error: str | int, times: int = 1, *, retry_after: int | None = None) -> None:
        """Answer the next calls with a Slack error or an HTTP status, without doing anything.

        `ratelimited` comes with status 429 and a Retry-After of `retry_after` seconds (default 1).
        """
        name = error if isinstance(error, str) else None
        status = error if isinstance(error, int) else None
        self._add(Fault(method=method, times=times, error=name, status=status, retry_after=retry_after))

    def lose_reply(self, method: str, times: int = 1, *, hold: bool = False) -> None:
        """Execute the call, then drop the connection; with `hold`, keep it open without a reply instead."""
        self._add(Fault(method=method, times=times, lose_reply=True, hold=hold))

    def lose_call(self, method: str, times: int = 1) -> None:
        """Drop the connection without executing the call."""
        self._add(Fault(method=method, times=times, lose_call=True))

    def late(self, method: str, seconds: float, times: int = 1, *, lose_reply: bool = False) -> None:
        """Execute the call only after `seconds`, even if the caller has disconnected by then."""
        self._add(Fault(method=method, times=times, late=seconds, lose_reply=lose_reply))

    def forgive(self) -> None:
        """Remove all pending faults."""
        self.workspace.faults.ordered.clear()

    def latency(self, seconds: float) -> None:
        """Delay every response by `seconds`."""
        self.workspace.faults.latency = seconds

    def down(self, how: str = "refused") -> None:
        """Take Slack down: connections close without a response (`refused`) or get status 503 (`503`)."""
        self.workspace.faults.down = how
        self.sockets.drop()

    def up(self) -> None:
        """Bring Slack back up."""
        self.workspace.faults.down = None

    def drop_socket(self) -> int:
        """Abort all Socket Mode connections and return how many there were."""
        return self.sockets.drop()

    async def refresh_socket(self) -> None:
        """Request new connections, as Slack does every few hours."""
        await self.sockets.refresh()

    def redeliver(self, envelope: Envelope, *, after: float = 0.0) -> None:
        """Deliver an envelope once more, acknowledged or not."""

        async def again() -> None:
            await self.workspace.clock.sleep(after)
            await self.post.deliver(envelope, "timeout")

        self.post.start(again(), f"redeliver {envelope.id} for a test")

    def archive(self, where: str) -> None:
        """Archive a channel."""
        self._set_archived(where, archived=True)

    def unarchive(self, where: str) -> None:
        """Unarchive a channel."""
        self._set_archived(where, archived=False)

    def revoke(self, error: str = "token_revoked") -> None:
        """Make every token fail with `token_revoked` or `account_inactive`."""
        self.workspace.token_trouble = error

    def restore(self) -> None:
        """Make the tokens valid again."""
        self.workspace.token_trouble = None

    def forward(self, by: timedelta) -> None:
        """Advance the clock: rates, triggers, response URLs, edit windows, redeliveries."""
        self.workspace.clock.forward(by)

    def _set_archived(self, where: str, *, archived: bool) -> None:
        self.workspace.directory.channel(where).archived = archived
        self.workspace.changes.publish({"kind": "reload", "only_for": None})

    def _add(self, fault: Fault) -> None:
        self.workspace.faults.order(fault)
