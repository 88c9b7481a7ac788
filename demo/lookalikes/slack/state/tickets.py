"""Short-lived permissions of an interaction: trigger ids and response URLs."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from demo.lookalikes.slack.limits import Limits
from demo.lookalikes.slack.state.bounded import Bounded
from demo.lookalikes.slack.web.errors import SlackError


@dataclass(slots=True, kw_only=True)
class Trigger:
    """Permission to open one view within a short time."""

    id: str
    person: str
    issued: datetime
    #: The view that was used; None for messages and slash commands.
    view: str | None = None
    exchanged: bool = False


@dataclass(slots=True, kw_only=True)
class ResponseUrl:
    """Permission to respond to one interaction a few times."""

    id: str
    person: str
    channel: str
    issued: datetime
    #: The message whose button was pressed.
    message_ts: str | None = None
    ephemeral: bool = False
    thread_ts: str | None = None
    uses: int = 0


@dataclass(slots=True, kw_only=True)
class Tickets:
    """All issued triggers and response URLs."""

    limits: Limits
    triggers: dict[str, Trigger] = field(default_factory=lambda: Bounded(20_000))
    responses: dict[str, ResponseUrl] = field(default_factory=lambda: Bounded(20_000))

    def exchange(self, ident: Any, now: datetime) -> Trigger:
        """Use up a trigger id; raise SlackError when it is unknown, used or expired."""
        trigger = self.triggers.get(str(ident))
        if trigger is None:
            raise SlackError("invalid_trigger_id")
        if trigger.exchanged:
            raise SlackError("exchanged_trigger_id")
        if now - trigger.issued > timedelta(seconds=self.limits["trigger_seconds"]):
            raise SlackError("expired_trigger_id")
        trigger.exchanged = True
        return trigger

    def use(self, ident: str, now: datetime) -> ResponseUrl:
        """Count one use of a response URL; raise a 404 SlackError when it is unknown, used up or expired."""
        found = self.responses.get(ident)
        if found is None:
            raise SlackError("no_such_url", status=404)
        if now - found.issued > timedelta(seconds=self.limits["response_url_seconds"]):
            raise SlackError("expired_url", status=404)
        if found.uses >= self.limits["response_url_uses"]:
            raise SlackError("used_url", status=404)
        found.uses += 1
        return found
