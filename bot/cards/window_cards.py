"""The cards that say that a window begins, and that it has ended."""

from alerts.cards.message import Color, Context, Message, Paragraph
from alerts.cards.posted import CardKind
from alerts.cards.text import bold, joined, markup, moment, text
from bot.cards.card_kind import CardDefinition, own, unchanging
from collectors.facts.sentences import sentence
from commands.gates.window import WindowNotice


def window_message(notice: WindowNotice) -> Message:
    """Return what a channel reads of a window that begins, or that has ended."""
    if not notice.has_begun:
        return Message(
            title=text(sentence("{window} has ended", window=bold(notice.window))), color=Color.QUIET
        )
    blocks = [Paragraph(text=joined("\n", map(markup, notice.effects)))] if notice.effects else []
    end = [Context(text=text("until ", moment(notice.until)))] if notice.until is not None else []
    title = text(sentence("{window} begins", window=bold(notice.window)))
    return Message(title=title, color=Color.INFO, blocks=(*blocks, *end))


WINDOW_CARD = CardDefinition(
    kind=CardKind.WINDOW, compose=unchanging(WindowNotice, window_message), depends_on={WindowNotice: own}
)
