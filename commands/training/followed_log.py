"""A log that is followed for a few minutes: the row that asks for it, and its card."""

from datetime import timedelta

from alerts.cards.message import Block, Color, Context, Message, Preformatted
from alerts.cards.posted import CardKind, PostedCard, new_card
from alerts.cards.text import bold, text
from collectors.facts.sentences import sentence
from collectors.trainings.training import Rank, Training
from commands.core.command import UnusableError
from commands.core.context import CommandContext
from commands.models import LogFollow

FOLLOWED_FOR = timedelta(minutes=5)
LINES_SHOWN = 20
MOST = 5  # at once, of one person


async def follow_log(training: Training, rank: Rank, context: CommandContext) -> None:
    """Store that the log of this task is followed, and the card that shows it. Raises UnusableError."""
    origin = context.origin
    if not origin.channel:
        raise UnusableError(sentence("`--follow` is for a chat: the lines are shown in a thread there."))
    id = f"{context.cluster.name}/{training.namespace}/{rank.pod}/{context.now:%Y%m%d%H%M%S}"
    async with context.store.unit() as unit:
        live = await unit.rows(LogFollow).find(cluster=context.cluster.name, state="live")
        own = [one for one in live if one.by == context.actor.person]
        if len(own) >= MOST:
            raise UnusableError(
                sentence(
                    "You follow {count} logs already: the first ends {at}.", count=len(own), at=own[0].until
                )
            )
        follow = LogFollow(
            id=id,
            cluster=context.cluster.name,
            training=training.id,
            name=f"{training.shown}, {rank.role} {rank.index}",
            namespace=training.namespace,
            pod=rank.pod,
            by=context.actor.person,
            by_name=context.actor.name,
            at=context.now,
            until=context.now + FOLLOWED_FOR,
        )
        await unit.rows(LogFollow).put(follow)
        card = new_card(CardKind.LOG_FOLLOW, follow, origin.channel, thread=origin.thread)
        await unit.rows(PostedCard).add(card)


def followed_log(follow: LogFollow) -> Message:
    """Return its card: the last lines, and until when it is edited."""
    blocks: list[Block] = [Preformatted(lines=follow.lines[-LINES_SHOWN:] or ("(no lines yet)",))]
    if follow.problem:
        blocks.append(Context(text=text("⚠ ", follow.problem)))
    said = (
        sentence("It is no longer followed.")
        if follow.is_over
        else sentence("It is followed until {until}; this message is edited.", until=follow.until)
    )
    blocks.append(Context(text=text(said)))
    return Message(
        title=text(sentence("The log of {rank}", rank=bold(follow.name))),
        color=Color.QUIET if follow.is_over else Color.BUSY,
        blocks=tuple(blocks),
    )
