"""The watch of the store's file: when it is gone, nothing can be stored, so people hear of it without the store."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from alerts.cards.text import Text, text
from bot.delivery.notifier_protocol import SendError

LOOK_EVERY = 5.0  # seconds

_log = structlog.get_logger()


class StoreWatch:
    """Says once that the file is gone, and once that it is back. `why_gone` is empty while it is there."""

    def __init__(self, why_gone: Callable[[], str], tell: Callable[[Text], Awaitable[None]]) -> None:
        self._why_gone = why_gone
        self._tell = tell
        self._is_gone = False

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(LOOK_EVERY)

    async def look(self) -> None:
        """Look at the file, and say what changed. What cannot be said is tried again."""
        reason = self._why_gone()
        if bool(reason) == self._is_gone:
            return
        if reason:
            _log.error("store is gone", reason=reason)
        else:
            _log.info("store is back")
        try:
            await self._tell(_gone() if reason else _back())
        except SendError as error:
            _log.warning("what happened to the store was not posted", reason=str(error))
            return
        self._is_gone = bool(reason)


def _gone() -> Text:
    return text(
        "Yardmaster cannot store anything: the file of its store is gone. Cards stay as they are, and nobody can act "
        "through it, until its operator puts the file back or restores a backup. Its log says how."
    )


def _back() -> Text:
    return text("The file of Yardmaster's store is back: everything goes on.")
