"""This file composes each kind of card from the store: incidents, deeds, claims, trainings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from alerts.cards.incident_card import incident_card
from alerts.cards.posted import CardKind, PostedCard
from alerts.incidents.grouping import REOPENS_WITHIN
from alerts.incidents.incident import Incident
from alerts.rules import Rule
from bot.delivery.card_entries import Composed, Composer, Composers
from collectors.query_router import source_of
from collectors.trainings.training import Training
from commands.core.cluster_selection import with_cluster
from commands.gpu.reclaim_card import OPEN, reclaim_card
from commands.incident.card_context import incident_context
from commands.plans.preview import can_undo, card_of
from commands.store import Unit
from commands.training.launch_card import launch_card

PLAN_CARD_LIFETIME = timedelta(days=1)  # after its end; then its card changes only if it is undone


@dataclass(frozen=True, slots=True, kw_only=True)
class CardContext:
    """What cards show beside what the store holds. The functions give what is so now."""

    rules: Callable[[], Mapping[str, Rule]]
    training: Callable[[str, str], Training | None]  # cluster, namespace/name
    blind: Callable[[str], Mapping[str, str]]  # cluster -> source -> why it cannot be seen at the moment
    people: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by cluster
    runbooks: str = ""
    many_clusters: bool = False  # so that a button has to say which it is for


def _blind_reason(incident: Incident, showing: CardContext) -> str:
    """Why the incident cannot be seen now: the blind ones among the sources that its own rules ask."""
    rules, blind = showing.rules(), showing.blind(incident.cluster)
    asked = {source_of(rules[one.rule].query) for one in incident.members if one.rule in rules}
    return "; ".join(f"{source}: {reason}" for source, reason in blind.items() if source in asked)


def composers(showing: CardContext) -> Composers:
    """A composer for each kind of card."""

    async def incident(card: PostedCard, unit: Unit, now: datetime) -> Composed:
        found = await unit.incidents.get(card.row_id)
        if found is None:
            return Composed(message=None, is_final=True)
        context = replace(
            await incident_context(found, unit, rules=showing.rules(), now=now),
            people=showing.people,
            links=showing.links.get(found.cluster, {}),
            runbooks=showing.runbooks,
            blind=_blind_reason(found, showing),
        )
        message = incident_card(found, context=context, now=now)
        if found.resolved_at is None:
            return Composed(message=message, next_due=context.silenced_until)
        over_at = found.resolved_at + REOPENS_WITHIN
        return Composed(message=message, is_final=now >= over_at, next_due=over_at)

    async def action(card: PostedCard, unit: Unit, now: datetime) -> Composed:
        found = await unit.plans.get(card.row_id)
        if found is None:
            return Composed(message=None, is_final=True)
        if found.ended_at is None:
            return Composed(message=card_of(found))
        until = found.ended_at + PLAN_CARD_LIFETIME
        over = now >= until or not can_undo(found)
        return Composed(message=card_of(found), is_final=over, next_due=None if over else until)

    async def reclaim(card: PostedCard, unit: Unit, now: datetime) -> Composed:
        found = await unit.reclaim_requests.get(card.row_id)
        if found is None:
            return Composed(message=None, is_final=True)
        over = found.state not in OPEN
        return Composed(
            message=reclaim_card(found, now), is_final=over, next_due=None if over else found.grace_until
        )

    async def training(card: PostedCard, unit: Unit, now: datetime) -> Composed:
        found = await unit.launches.get(card.row_id)
        if found is None:
            return Composed(message=None, is_final=True)
        message = launch_card(
            found, showing.training(found.cluster, found.training), now, last_lines=found.last_lines
        )
        return Composed(message=message, is_final=found.is_over)

    made = {
        CardKind.INCIDENT: incident,
        CardKind.PLAN: action,
        CardKind.RECLAIM_REQUEST: reclaim,
        CardKind.LAUNCH: training,
    }
    return {kind: _placed(one) for kind, one in made.items()} if showing.many_clusters else made


def _placed(compose: Composer) -> Composer:
    async def composed(card: PostedCard, unit: Unit, now: datetime) -> Composed:
        found = await compose(card, unit, now)
        return replace(found, message=with_cluster(found.message, card.cluster)) if found.message else found

    return composed
