"""The plan card: under its incident's card, in the thread of the command, or in the channel."""

from dataclasses import replace
from datetime import datetime, timedelta

from alerts.cards.message import Buttons, Message
from alerts.cards.posted import CardId, CardKind, PostedCard, new_card
from alerts.cards.text import bold, text
from alerts.store import StoreSnapshot
from bot.cards.card_kind import (
    CardContext,
    CardDefinition,
    Composed,
    all_of_its_cluster,
    all_where_it_was,
    composer_of,
    own,
)
from commands.acceptance.acceptance import Acceptance, AcceptanceState
from commands.acceptance.verdict_text import VERDICT_COLORS, verdict_blocks, verdict_buttons, verdict_line
from commands.core.parent_members import cards_about
from commands.execution.job_runs import JobRun
from commands.execution.plan import Plan, PlanState, StepRecord
from commands.execution.plan_card import card_of
from commands.execution.plan_journal import records_of
from commands.execution.preview import expired, preview
from commands.execution.record_steps import settled_rows
from commands.execution.steps import Record
from commands.execution.undoable import can_undo
from commands.models import CordonLease, GpuLease, ReclaimRequest

PLAN_CARD_LIFETIME = timedelta(days=1)  # after its end its card changes only if it is undone


async def wanted_plan_card(plan: Plan, snapshot: StoreSnapshot, default_channel: str) -> PostedCard | None:
    """Return the card that the plan should have, None if it should have none."""
    channel = plan.origin.channel or default_channel
    if not channel or _is_bookkeeping(plan):
        return None
    parent: CardId | None = None
    if plan.origin.incident:
        cards = await cards_about(plan.origin.incident, snapshot)
        parent = next((card.id for card in cards if card.channel == channel), None)
    return new_card(CardKind.PLAN, plan, channel, parent=parent, thread="" if parent else plan.origin.thread)


def _is_bookkeeping(plan: Plan) -> bool:
    """Return whether automation only changed our own rows: while blind, it postpones a request every ten minutes."""
    return plan.origin.via == "agenda" and all(isinstance(step, Record) for step in plan.steps)


async def _compose(
    found: Plan, _card: PostedCard, snapshot: StoreSnapshot, _shared: CardContext, now: datetime
) -> Composed:
    if found.state is PlanState.PROPOSED:  # it needs a second person, or was asked of a team
        is_late = now >= found.expires_at
        message = expired(found) if is_late else preview(found)
        return Composed(message=message, is_final=is_late, next_due=found.expires_at)
    records = await records_of(found, snapshot)
    tested = next(iter(await snapshot.rows(Acceptance).find(plan=found.id)), None)
    runs = await snapshot.rows(JobRun).find(plan=found.id)
    settled = await settled_rows(snapshot, found.id, found.steps) if found.is_over else frozenset()
    if tested is not None and tested.state is AcceptanceState.RETURNED:
        tested = None  # this plan uncordoned it
    if tested is not None and tested.is_over:
        message = _judged(card_of(found, records, settled=settled), tested)
    else:
        message = card_of(found, records, runs, settled=settled)
    if found.ended_at is None or (tested is not None and not tested.is_over):
        return Composed(message=message)
    until = found.ended_at + PLAN_CARD_LIFETIME
    if tested is not None and now < until:
        return Composed(message=message, next_due=until)
    over = now >= until or not can_undo(found, records, settled)
    return Composed(message=message, is_final=over, next_due=None if over else until)


def _judged(message: Message, tested: Acceptance) -> Message:
    """Return the card of tests with their verdict before the steps, which are what it was made of."""
    blocks = [*verdict_blocks(tested), *message.blocks]
    if buttons := verdict_buttons(tested):
        blocks.append(Buttons(buttons=buttons))
    title = text(bold(verdict_line(tested)))
    return replace(message, title=title, color=VERDICT_COLORS[tested.state], blocks=tuple(blocks))


PLAN_CARD = CardDefinition(
    kind=CardKind.PLAN,
    compose=composer_of(Plan, _compose),
    depends_on={
        Plan: own,
        StepRecord: lambda record: (record.plan,),
        JobRun: lambda run: (run.plan,),
        Acceptance: lambda one: (one.plan,) if one.plan else (),
        ReclaimRequest: all_of_its_cluster,  # an answer settles what a plan requested
        CordonLease: all_of_its_cluster,
        GpuLease: all_of_its_cluster,
    },
    deleted={
        CordonLease: all_where_it_was,
        GpuLease: all_where_it_was,
    },
)
