"""This file keeps the short-lived permissions of a gesture: trigger ids and response addresses."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from demo.lookalikes.slack.limits import Limits
from demo.lookalikes.slack.state.bounded import Bounded
from demo.lookalikes.slack.web.errors import SlackError


@dataclass(slots=True, kw_only=True)
class Trigger:
    """May open one view, soon."""

    id: str
    person: str
    issued: datetime
    #: The view whose gesture this was; None for messages and slash commands.
    view: str | None = None
    exchanged: bool = False


@dataclass(slots=True, kw_only=True)
class ResponseUrl:
    """May answer one gesture a few times."""

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
    """What was handed out."""

    limits: Limits
    triggers: dict[str, Trigger] = field(default_factory=lambda: Bounded(20_000))
    responses: dict[str, ResponseUrl] = field(default_factory=lambda: Bounded(20_000))

    def exchange(self, ident: Any, now: datetime) -> Trigger:
        """Use a trigger id up.

        Raises:
            SlackError: it is unknown, used or too old.
        """
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
        """Count one use of a response address.

        Raises:
            SlackError: it is unknown, used up or too old; with HTTP status 404.
        """
        found = self.responses.get(ident)
        if found is None:
            raise SlackError("no_such_url", status=404)
        if now - found.issued > timedelta(seconds=self.limits["response_url_seconds"]):
            raise SlackError("expired_url", status=404)
        if found.uses >= self.limits["response_url_uses"]:
            raise SlackError("used_url", status=404)
        found.uses += 1
        return found
