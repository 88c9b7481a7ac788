"""The app's home tab in Slack."""

import json
from collections.abc import Callable
from typing import Any

from alerts.cards.message import Message
from bot.channels.slack.blocks import render_view
from bot.channels.slack.web_client import SlackClient
from bot.language.message_catalogue import ENGLISH, Catalogue


class SlackHome:
    """A HomePublisher. A press on the page is answered in the person's direct messages with the app."""

    def __init__(self, client: SlackClient, catalogue: Catalogue = ENGLISH) -> None:
        self._on_opened: Callable[[str], None] = lambda _user: None
        self._client = client
        self._catalogue = catalogue
        self._channels: dict[str, str] = {}  # person -> direct messages

    def listen(self, on_opened: Callable[[str], None]) -> None:
        self._on_opened = on_opened

    def opened(self, event: dict[str, Any]) -> None:
        """Handle an `app_home_opened` event; the tab with the messages needs nothing."""
        if event.get("tab") == "home" and event.get("user"):
            self._channels[event["user"]] = event.get("channel", "")
            self._on_opened(event["user"])

    async def publish(self, user: str, message: Message) -> None:
        view = {
            "type": "home",
            "blocks": list(render_view(message, self._catalogue)),
            "private_metadata": json.dumps({"channel": self._channels.get(user, "")}),
        }
        await self._client.call("views.publish", self._client.web.views_publish(user_id=user, view=view))
