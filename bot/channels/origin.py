"""The origin of an interaction: the card that it is on or under, and what that card is about."""

from collections.abc import Sequence

from alerts.cards.posted import CardKind, PostedCard
from alerts.store import Store, StoreSnapshot
from bot.channels.interaction import Interaction
from commands.execution.plan import Origin, Plan
from commands.gates.remediation import Remediation
from commands.models import LogFollow, ReclaimRequest, TrainingNotice

RECENT_CARDS = 500  # newest cards of a channel that are searched for the one with the button


async def cards_of(interaction: Interaction, snapshot: StoreSnapshot) -> Sequence[PostedCard]:
    """Return the cards that the interaction is on or under, newest first."""
    messages = {id for id in (interaction.message_id, interaction.thread) if id}
    if not messages:
        return ()
    cards = await snapshot.rows(PostedCard).find(channel=interaction.channel, newest=True, limit=RECENT_CARDS)
    return [card for card in cards if card.message_id in messages]


async def origin_of(interaction: Interaction, store: Store) -> Origin:
    """Return the origin: a command on or under an incident's card belongs to the incident, an answer to a request."""
    incident, request = "", ""
    async with store.read() as snapshot:
        for card in await cards_of(interaction, snapshot):
            if card.kind in (CardKind.INCIDENT, CardKind.PARENT):
                incident = card.row_id
            elif card.kind is CardKind.PLAN:
                plan = await snapshot.rows(Plan).get(card.row_id)
                incident = incident or (plan.origin.incident if plan else "")
            elif card.kind is CardKind.RECLAIM_REQUEST:
                request = card.row_id
            elif card.kind is CardKind.REMEDIATION:
                remediation = await snapshot.rows(Remediation).get(card.row_id)
                incident = incident or (remediation.incident if remediation else "")
    return Origin(
        via=interaction.via,
        channel=interaction.channel,
        thread=interaction.thread,
        incident=incident,
        request=request,
    )


async def line_about(interaction: Interaction, store: Store) -> str:
    """Return the line that shows what the message is about, empty for no message of a card or its thread."""
    async with store.read() as snapshot:
        cards = await cards_of(interaction, snapshot)
        own = [card for card in cards if card.message_id == interaction.message_id]
        return await _line_about((own or cards)[0], snapshot) if cards else ""


async def _line_about(card: PostedCard, snapshot: StoreSnapshot) -> str:
    match card.kind:
        case CardKind.INCIDENT | CardKind.PARENT:
            return f"incident show {card.row_id}"
        case CardKind.PLAN:
            return f"plan show {card.row_id}"
        case CardKind.LAUNCH:  # the cluster and the key of the training
            return f"training show {card.row_id.partition('/')[2]} --cluster {card.cluster}"
        case CardKind.RECLAIM_REQUEST:
            reclaim = await snapshot.rows(ReclaimRequest).get(card.row_id)
            return f"training show {reclaim.training} --cluster {card.cluster}" if reclaim else ""
        case CardKind.TRAINING_NOTICE:
            notice = await snapshot.rows(TrainingNotice).get(card.row_id)
            return f"training show {notice.training} --cluster {card.cluster}" if notice else ""
        case CardKind.REMEDIATION:
            remediation = await snapshot.rows(Remediation).get(card.row_id)
            return f"rule doctor {remediation.rule} --cluster {card.cluster}" if remediation else ""
        case CardKind.BREAKER:
            return f"breaker list --cluster {card.cluster}"
        case CardKind.DAILY_LEASES:
            return "node list --out"
        case CardKind.LOG_FOLLOW:
            follow = await snapshot.rows(LogFollow).get(card.row_id)
            return f"training logs {follow.training} --cluster {card.cluster}" if follow else ""
        case CardKind.WINDOW:
            return ""
