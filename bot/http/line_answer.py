"""The answer to a posted line, as data: how it ended, its text, and its tables."""

import msgspec

from alerts.cards.message import Table
from bot.channels.plain_text import plain_text
from bot.language.message_catalogue import ENGLISH, Catalogue
from commands.core.command import Answer, CommandOutcome


class AnswerTable(msgspec.Struct, frozen=True):
    """A table of the answer. `more`: rows that are left out."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int = 0


class LineAnswer(msgspec.Struct, frozen=True):
    """What `/api/yard/lines` answers with 200. The text is empty when there is nothing to answer."""

    outcome: CommandOutcome
    text: str
    tables: tuple[AnswerTable, ...] = ()


def line_answer(answer: Answer | None, catalogue: Catalogue = ENGLISH) -> LineAnswer:
    """Return the answer as it is sent; its text is the catalogue's language. None: the line was handled before."""
    if answer is None:
        return LineAnswer(outcome=CommandOutcome.DONE, text="")
    tables = tuple(
        AnswerTable(columns=block.heading, rows=block.rows, more=block.more)
        for block in answer.message.blocks
        if isinstance(block, Table)
    )
    return LineAnswer(outcome=answer.outcome, text=plain_text(answer.message, catalogue), tables=tables)
