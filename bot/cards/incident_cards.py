"""The incident card and its replies, composed. `alerts/cards/desired_cards.py` has which are wanted."""

from dataclasses import replace
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.cards.headline import headline
from alerts.cards.incident_card import incident_card
from alerts.cards.incident_context import IncidentContext, StillOpen
from alerts.cards.incident_facts import incident_facts, shown_members
from alerts.cards.message import Context, Image, Message
from alerts.cards.parent_card import member_card
from alerts.cards.posted import CardImage, CardKind, PostedCard, ThreadReply
from alerts.cards.query_links import with_query
from alerts.cards.reply_words import worded
from alerts.cards.suggested_actions import suggestions
from alerts.incidents.incident import Incident
from alerts.parents.parent_incident import ParentIncident
from alerts.silences import Silence
from alerts.store import StoreSnapshot
from bot.cards.card_kind import (
    CardContext,
    CardDefinition,
    Composed,
    Everywhere,
    all_of_its_cluster,
    all_where_it_was,
    composer_with_events,
    own,
)
from collectors.facts.sentences import listed
from collectors.trainings.training import TrainingState
from commands.acceptance.acceptance import Acceptance
from commands.core.incident_plans import plans_of
from commands.execution.plan import Plan, StepRecord
from commands.incident.card_context import context_of, incident_context, still_suspended
from commands.models import CordonLease, GpuLease, ReclaimRequest

LOOK_AGAIN = timedelta(seconds=15)  # whether an object that broke again is well
LOOK_AGAIN_AT_WHAT_IS_LEFT = timedelta(minutes=1)
LOOK_AGAIN_AT_THE_CLUSTER = timedelta(minutes=1)  # what a card suggests may have been done by somebody else


async def _composed(
    found: Incident, card: PostedCard, snapshot: StoreSnapshot, shared: CardContext, now: datetime
) -> Composed:
    parent = await snapshot.rows(ParentIncident).get(found.parent) if found.parent else None
    if parent is not None and not shared.wants_facts(card.channel):
        over_at = found.resolved_at and found.resolved_at + shared.reopens_within
        return Composed(
            message=member_card(found, parent),
            is_final=over_at is not None and not parent.is_open and now >= over_at,
            next_due=over_at,
            is_only_an_edit=True,
        )
    seen = shared.cluster(found.cluster)
    context = await incident_context(
        found, snapshot, rules=shared.rules(), now=now, cluster=seen, tests=shared.tests
    )
    context = replace(
        context,
        still_open=(*_suspended(found, context, shared), *context.still_open),
        people=shared.people,
        culprits=(*context.culprits, *shared.culprits(found)),
        links=with_query(shared.links.get(found.cluster, {}), found, context.rules),
        runbooks=shared.runbooks,
        blind=_blind_reason(found, shared),
    )
    message = incident_card(found, context=context, now=now)
    if (image := await snapshot.rows(CardImage).get(card.id)) is not None:
        message = _with_image(message, image)
    is_edit = parent is not None
    if shared.wants_facts(card.channel):
        if found.is_open and context.silenced_until is not None:  # a post would notify
            return Composed(message=None, next_due=context.silenced_until)
        if not found.is_open and await _is_broken_again(found, card.channel, snapshot):
            return Composed(message=None, next_due=now + LOOK_AGAIN)
        rows = await snapshot.rows(Alert).get_all(member.alert for member in shown_members(found))
        facts = incident_facts(found, rows, title=headline(found), links=context.links)
        message = replace(message, facts=facts)
    if found.resolved_at is None:
        look = now + LOOK_AGAIN_AT_THE_CLUSTER if suggestions(found, context.rules) else None
        dues = [due for due in (context.silenced_until, look) if due is not None]
        return Composed(message=message, next_due=min(dues, default=None), is_only_an_edit=is_edit)
    over_at = found.resolved_at + shared.reopens_within
    if context.still_open:  # what ends it may change no row of this card
        due = now + LOOK_AGAIN_AT_WHAT_IS_LEFT
        return Composed(message=message, next_due=due, is_only_an_edit=is_edit)
    return Composed(message=message, is_final=now >= over_at, next_due=over_at, is_only_an_edit=is_edit)


def _suspended(incident: Incident, context: IncidentContext, shared: CardContext) -> list[StillOpen]:
    """Return the trainings that actions for the incident suspended, and that are still suspended."""
    found: dict[str, StillOpen] = {}
    for action in context.actions if not incident.is_open else ():
        for name in action.disrupts if action.state == "done" else ():
            training = shared.training(incident.cluster, name)
            if training is not None and training.state is TrainingState.SUSPENDED:
                found[name] = still_suspended(training.typed, action.plan)
    return list(found.values())


async def _is_broken_again(incident: Incident, channel: str, snapshot: StoreSnapshot) -> bool:
    """Return whether the channel has a later, open incident of the same object, and would take this end for its end."""
    found = await snapshot.rows(Incident).find(
        cluster=incident.cluster, group_key=incident.group_key, state="open"
    )
    return any(channel in one.channels for one in found)


def _with_image(message: Message, image: CardImage) -> Message:
    """Return the message with its chart at the end: what to do comes first, on a phone too."""
    foot = len(message.blocks) - isinstance(message.blocks[-1], Context)
    shown = Image(file=image.file, alt=image.alt)
    return replace(message, blocks=(*message.blocks[:foot], shown, *message.blocks[foot:]))


def _blind_reason(incident: Incident, shared: CardContext) -> str:
    """Return why the incident cannot be seen now: the blind sources among those that its rules query."""
    rules = shared.rules()
    queries = [rules[one.rule].query for one in incident.members if one.rule in rules]
    found = shared.blind(incident.cluster, queries)
    return listed((listed(one, ":") for one in found.items()), ";")


INCIDENT_CARD = CardDefinition(
    kind=CardKind.INCIDENT,
    compose=composer_with_events(Incident, _composed),
    depends_on={
        Incident: own,
        ParentIncident: lambda _: (),  # its name never changes, and its end is that of its last member
        Plan: lambda plan: Everywhere(plan.cluster) if plan.command == "volume freeze" else (plan.incident,),
        StepRecord: lambda _: (),  # the plan is stored with what its steps came to
        Silence: all_of_its_cluster,
        CordonLease: all_of_its_cluster,
        GpuLease: all_of_its_cluster,
        ReclaimRequest: all_of_its_cluster,
        Acceptance: all_of_its_cluster,
        CardImage: lambda image: (image.incident,),
    },
    deleted={
        CordonLease: all_where_it_was,
        GpuLease: all_where_it_was,
    },
)


async def worded_of_incident(
    reply: ThreadReply, card: PostedCard, snapshot: StoreSnapshot, shared: CardContext
) -> ThreadReply:
    """Return the reply with its words. They are empty if its incident, or the event, is no longer stored."""
    incident = await snapshot.rows(Incident).get(card.row_id)
    if incident is None:
        return reply
    plans = await plans_of([incident], snapshot)
    seen = shared.cluster(incident.cluster)
    context = await context_of(incident, plans[incident.id], snapshot, rules=shared.rules(), cluster=seen)
    return worded(reply, incident, context)
