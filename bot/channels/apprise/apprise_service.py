"""A service that apprise reaches. The library is an extra, and is loaded when the settings have such a channel."""

import logging
from dataclasses import dataclass
from typing import Any

from alerts.cards.message import Color

NOT_INSTALLED = "apprise is not installed: pip install 'yardmaster[apprise]'"
UNKNOWN = "apprise does not know addresses of this form"
_TYPES = {Color.CRITICAL: "failure", Color.WARNING: "warning", Color.GOOD: "success"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AppriseMessage:
    """What is sent: the title in one line, and text. Apprise converts it to the service's markup, and escapes it."""

    title: str
    body: str
    color: Color


class AppriseService:
    """One address. Nothing of it is logged: the library's own log has addresses in it."""

    def __init__(self, address: str) -> None:
        """Raises ValueError, whose text has nothing of the address."""
        try:
            import apprise
            from apprise.attachment.memory import AttachMemory
        except ImportError:
            raise ValueError(NOT_INSTALLED) from None
        logging.getLogger("apprise").disabled = True
        asset = apprise.AppriseAsset(app_id="Yardmaster", app_desc="Yardmaster", app_url="", async_mode=False)
        service: Any = apprise.Apprise.instantiate(address, asset=asset, suppress_exceptions=True)
        if service is None:
            raise ValueError(UNKNOWN)
        self._service = service
        self._attached: Any = AttachMemory
        self._all: Any = apprise.Apprise(asset=asset)
        self._all.add(service)

    def send(self, message: AppriseMessage) -> bool:
        """Send it, and return whether the service took it. Text that is too long is cut, and attached where it can be.

        It blocks for seconds.
        """
        title = _cut(message.title, self._service.title_maxlen or self._service.body_maxlen // 4)
        room = self._service.body_maxlen - (0 if self._service.title_maxlen else len(title) + 2)
        body = _cut(message.body, room)
        attach = None
        if body != message.body and self._service.attachment_support:
            attach = self._attached(content=message.body, name="card.txt")
        return bool(
            self._all.notify(
                title=title,
                body=body or title,
                notify_type=_TYPES.get(message.color, "info"),
                body_format="text",
                attach=attach,
            )
        )


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: max(0, most - 1)]}…"
