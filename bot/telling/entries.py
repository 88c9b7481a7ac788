"""This file decides what is to be done next for a card: pure look-ups on what is known of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum

from alerts.cards.message import Color
from alerts.cards.posted import PostedCard, ThreadReply
from bot.telling.composing import Composed

_URGENCY = {Color.CRITICAL: 0, Color.WARNING: 1, Color.BUSY: 2, Color.INFO: 3, Color.GOOD: 4, Color.QUIET: 5}


class Act(IntEnum):
    """What can be done, the most pressing first: a new card, a line, an edit."""

    SETTLE = 0  # only in our store
    FIND = 1
    POST = 2
    FIND_LINE = 3
    POST_LINE = 4
    EDIT = 5


METHOD = {Act.FIND: "find", Act.FIND_LINE: "find", Act.POST: "post", Act.POST_LINE: "post", Act.EDIT: "edit"}


@dataclass(slots=True)
class Attempts:
    """How it went so far with one message, in this process only. Moments are in loop time."""

    not_before: float = 0.0
    failed: int = 0
    is_surely_unsent: bool = False  # the intent is on disk, and the chat said that it took nothing
    refused: bool = False


@dataclass(slots=True, kw_only=True)
class LineEntry:
    line: ThreadReply
    attempts: Attempts = field(default_factory=Attempts)


@dataclass(slots=True, kw_only=True)
class Entry:
    """A card that is being told: the row as it is on disk, and what is wanted of it."""

    told: PostedCard
    order: int
    wanted: Composed | None = None
    digest: str = ""  # of the wanted view
    is_stale: bool = True  # to be composed again
    due: datetime | None = None
    parent_ts: str | None = None  # of a parent that is not live any more
    lines: list[LineEntry] = field(default_factory=list)
    attempts: Attempts = field(default_factory=Attempts)

    @property
    def is_over(self) -> bool:
        return self.told.is_final and not self.lines

    def next_line(self) -> LineEntry | None:
        """The line whose turn it is. One that was refused lets the others pass."""
        return next((one for one in self.lines if not one.attempts.refused), next(iter(self.lines), None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    act: Act
    entry: Entry
    line: LineEntry | None = None

    @property
    def attempts(self) -> Attempts:
        return self.line.attempts if self.line is not None else self.entry.attempts

    @property
    def intent_at(self) -> datetime | None:
        return self.line.line.intent_at if self.line is not None else self.entry.told.intent_at

    @property
    def rank(self) -> tuple[int, int, str, int]:
        """Smaller goes first. Of equal edits, the card that waited longest."""
        entry = self.entry
        view = entry.wanted.message if entry.wanted else None
        urgency = _URGENCY[view.color] if view is not None else len(_URGENCY)
        waited = entry.told.posted_at.isoformat() if self.act is Act.EDIT and entry.told.posted_at else ""
        return (self.act, urgency, waited, entry.order)


def jobs_of(entry: Entry, *, is_parent_known: bool) -> Iterable[Job]:
    """What is to be done for a card and its lines, at once or later."""
    act = _card_act(entry, is_parent_known=is_parent_known)
    if act is not None:
        yield Job(act=act, entry=entry)
    line = entry.next_line()
    if line is not None and (entry.told.message_id or entry.told.is_final):
        in_doubt = line.line.intent_at is not None and not line.attempts.is_surely_unsent
        yield Job(act=Act.FIND_LINE if in_doubt else Act.POST_LINE, entry=entry, line=line)


def _card_act(entry: Entry, *, is_parent_known: bool) -> Act | None:
    told, wanted = entry.told, entry.wanted
    if told.is_final or wanted is None:
        return None
    if not told.message_id and told.intent_at is not None and not entry.attempts.is_surely_unsent:
        return Act.FIND
    if wanted.message is None or (told.message_id and told.digest == entry.digest):
        return Act.SETTLE if wanted.is_final else None
    if told.message_id:
        return Act.EDIT
    return Act.POST if is_parent_known else None
