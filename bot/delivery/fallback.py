"""The fallback: where incidents are shown whose channel refuses everything, or does not answer for long."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

import structlog

from alerts.cards.posted import CardKind, PostedCard, card_id
from alerts.incidents.incident import Incident
from alerts.parents.parent_incident import ParentIncident
from alerts.store import Changed, Store
from bot.delivery.card_entries import CardEntry
from bot.delivery.notifier_protocol import Refuses

AWAY_AFTER = timedelta(minutes=5)
_ROWS: Mapping[CardKind, type[Incident] | type[ParentIncident]] = {
    CardKind.INCIDENT: Incident,
    CardKind.PARENT: ParentIncident,
}  # the others are answers to somebody, who asked in that channel

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackOptions:
    """The channels of the fallback, and how long one that does not answer is waited for."""

    channels: tuple[str, ...] = ()
    after: timedelta = field(default=AWAY_AFTER)


class Fallback:
    """Gives cards to the channels of the fallback. A card there lives as any other does: it follows to the end.

    `notice` is called with what was stored.
    """

    def __init__(self, options: FallbackOptions, store: Store, notice: Callable[[Changed], None]) -> None:
        self.channels = options.channels
        self._after = options.after.total_seconds()
        self._store = store
        self._notice = notice

    def is_away(self, refused_by: Refuses, failing: float) -> bool:
        """Return whether a channel that has failed for so many seconds needs the fallback: at once if it refuses."""
        return bool(self.channels) and (refused_by is not Refuses.MESSAGE or failing >= self._after)

    async def cover(self, entries: Sequence[CardEntry]) -> None:
        """Store the cards that show in the fallback what these cannot. A repetition changes nothing."""
        found = [entry.card for entry in entries if entry.card.kind in _ROWS and not entry.card.thread]
        if not found:
            return
        stored: dict[str, PostedCard] = {}
        async with self._store.unit() as unit:
            for card in found:
                row = await unit.rows(_ROWS[card.kind]).get(card.row_id)
                if row is None:
                    continue
                for channel in self.channels:
                    id = card_id(card.kind, card.row_id, channel)
                    known = await unit.rows(PostedCard).get(id)
                    if known is None:
                        last = row.events[-1].number if row.events else 0
                        new = replace(_bare(card), id=id, channel=channel, after_event=last)
                    elif known.is_final and row.is_open:
                        new = replace(known, is_final=False)
                    else:
                        continue
                    await unit.rows(PostedCard).put(new)
                    stored[new.id] = new
        if stored:
            log.warning("cards given to the fallback", channel=found[0].channel, cards=len(stored))
            self._notice({"cards": stored})


def _bare(card: PostedCard) -> PostedCard:
    """Return the card as one that nobody has posted, in the place of its channel."""
    return PostedCard(
        id=card.id,
        cluster=card.cluster,
        kind=card.kind,
        row_id=card.row_id,
        channel=card.channel,
        instead_of=card.channel,
    )
