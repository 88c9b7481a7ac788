"""The watch of the store: while nothing can be stored, people hear of it without the store."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from alerts.cards.text import Text, text
from alerts.store import StoreError
from bot.delivery.notifier_protocol import SendError
from bot.store.store_file import StoreGoneError
from collectors.facts.sentences import Sentence, sentence

LOOK_EVERY = 5.0  # seconds

_log = structlog.get_logger()


class StoreWatch:
    """Says once why nothing can be stored, and once that it is over. `trouble` is None while all is well."""

    def __init__(
        self, trouble: Callable[[], StoreError | None], tell: Callable[[Text], Awaitable[None]]
    ) -> None:
        self._trouble = trouble
        self._tell = tell
        self._posted: StoreError | None = None

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(LOOK_EVERY)

    async def look(self) -> None:
        """Look at the store, and say what changed. What cannot be said is tried again."""
        found, posted = self._trouble(), self._posted
        if (found and found.reason) == (posted and posted.reason):
            return
        if found is not None:
            _log.error("nothing can be stored", reason=str(found))
            words = _gone() if isinstance(found, StoreGoneError) else _unusable(found.reason)
        else:
            _log.info("the store can be written again")
            words = _back() if isinstance(posted, StoreGoneError) else _usable()
        try:
            await self._tell(words)
        except SendError as error:
            _log.warning("what happened to the store was not posted", reason=str(error))
            return
        self._posted = found


def _gone() -> Text:
    return text(
        "Yardmaster cannot store anything: the file of its store is gone. Cards stay as they are, and nobody can act "
        "through it, until its operator puts the file back or restores a backup. Its log says how."
    )


def _back() -> Text:
    return text("The file of Yardmaster's store is back: everything goes on.")


def _unusable(reason: Sentence) -> Text:
    return text(
        sentence(
            "Yardmaster cannot store anything: {reason}. Cards stay as they are, and nobody can act through it, until "
            "its operator repairs that. Its rules are still evaluated, and what they find is shown then.",
            reason=reason,
        )
    )


def _usable() -> Text:
    return text("Yardmaster's store can be written again: everything goes on.")
