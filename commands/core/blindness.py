"""The blind spots of an answer: sources that are blind or not connected, and alerts that wait to be shown. Pure."""

from collections.abc import Mapping
from dataclasses import replace

from alerts.cards.message import Block, Color, Context, Message, Paragraph
from alerts.cards.text import Span, bold, markup, text
from collectors.facts.sentences import counted, listed, sentence, word
from commands.core.command import EVERY_SOURCE, Answer, AnyCommand
from commands.core.context import NOT_CONNECTED, CommandContext


def with_blindness(answer: Answer, command: AnyCommand, context: CommandContext) -> Answer:
    """Return the answer with what it cannot see: what is blind before the rest, what is not connected after it."""
    unseen = {
        source: reason
        for source, reason in context.unseen.items()
        if source in command.shows or command.shows == EVERY_SOURCE
    }
    if not unseen and not context.not_yet_shown:
        return answer
    message = answer.message
    return replace(
        answer,
        message=replace(
            message,
            color=Color.QUIET if message.color is Color.GOOD else message.color,
            blocks=(
                *_blind(unseen),
                *message.blocks,
                *_not_yet_shown(context.not_yet_shown),
                *_not_connected(unseen),
            ),
        ),
    )


def nothing_seen(nothing: str, context: CommandContext) -> Message:
    """Return that there is nothing, as far as can be seen. `nothing` has no full stop: `No firing alerts`."""
    if context.unseen or context.not_yet_shown:
        return Message(
            title=text(sentence("{nothing} that Yardmaster can see.", nothing=word(nothing))),
            color=Color.QUIET,
        )
    return Message(title=text(sentence("{nothing}.", nothing=word(nothing))), color=Color.GOOD)


def _blind(unseen: Mapping[str, str]) -> list[Block]:
    blind = {source: reason for source, reason in unseen.items() if reason != NOT_CONNECTED}
    if not blind:
        return []
    said = listed((listed(one, ":") for one in sorted(blind.items())), ";")
    was_seen = Span(sentence("This shows what was seen before that."))
    return [Paragraph(text=text("⚪ ", bold("Cannot see it now: "), markup(said), Span("\n"), was_seen))]


def _not_yet_shown(count: int) -> list[Block]:
    if not count:
        return []
    said = counted(
        "{count} alert is accepted but not shown yet: ask again in a moment.",
        "{count} alerts are accepted but not shown yet: ask again in a moment.",
        count=count,
    )
    return [Context(text=text(said))]


def _not_connected(unseen: Mapping[str, str]) -> list[Block]:
    missing = sorted(source for source, reason in unseen.items() if reason == NOT_CONNECTED)
    if not missing:
        return []
    return [Context(text=text(sentence("Not connected: {sources}.", sources=listed(missing))))]
