"""The card of the daily reminder: the nodes that somebody keeps out of service, since when, why, and until what."""

from alerts.cards.message import Block, Button, Buttons, Color, Context, Message, Paragraph
from alerts.cards.posted import CardKind
from alerts.cards.text import bold, person, text
from bot.cards.card_kind import CardDefinition, own, unchanging
from collectors.facts.sentences import counted, sentence
from commands.models import DailyReminder, LeasedNode

SHOWN = 6  # nodes, each with its buttons: the message of a chat has a limit


def daily_message(found: DailyReminder) -> Message:
    """Return what the owner reads; in a channel it mentions them."""
    count = len(found.nodes)
    title = (
        counted(
            "{count} node that you cordoned is out of service",
            "{count} nodes that you cordoned are out of service",
            count=count,
        )
        if found.is_direct
        else counted(
            "{who}: {count} node that you cordoned is out of service",
            "{who}: {count} nodes that you cordoned are out of service",
            who=person(found.owner, found.owner_name),
            count=count,
        )
    )
    blocks: list[Block] = []
    for one in found.nodes[:SHOWN]:
        said = sentence(
            "`{node}` since {since} ({reason}). Waits for: {what}.",
            node=one.node,
            since=one.since,
            reason=one.reason,
            what=one.waits_for,
        )
        blocks += [Paragraph(text=text(said)), Buttons(buttons=_buttons(one))]
    if count > SHOWN:
        more = counted("… {count} more", "… {count} more", count=count - SHOWN)
        blocks.append(Context(text=text(more)))
    clusters = dict.fromkeys(one.cluster for one in found.nodes)
    listing = tuple(
        Button(
            label=sentence("All that is out of service in {cluster}", cluster=one),
            line=f"node list --out --cluster {one}",
        )
        for one in clusters
    )
    blocks.append(Buttons(buttons=listing[:SHOWN]))
    color = Color.WARNING if any(one.is_past_its_end for one in found.nodes) else Color.INFO
    return Message(title=text(bold(title)), color=color, blocks=tuple(blocks))


def _buttons(one: LeasedNode) -> tuple[Button, ...]:
    at = f"--cluster {one.cluster}"
    return (
        Button(label=sentence("Uncordon {name}", name=one.node), line=f"node uncordon {one.node} {at}"),
        Button(label="One more day", line=f"node extend {one.node} --for 24h {at}"),
        Button(label="Hand over…", line=f"node hand-over {one.node} {at}"),
    )


DAILY_LEASES_CARD = CardDefinition(
    kind=CardKind.DAILY_LEASES,
    compose=unchanging(DailyReminder, daily_message),
    depends_on={DailyReminder: own},
)
