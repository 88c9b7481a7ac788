"""The command `home`: what is open, what waits for the sender, and their trainings, GPUs and cordons."""

from collections.abc import Sequence
from dataclasses import dataclass

from alerts.cards.message import Block, Context, Message
from alerts.cards.text import bold, text
from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence
from commands.core.command import EVERY_SOURCE, Answer, Command
from commands.core.confirmation import namespaces_of
from commands.core.context import CommandContext
from commands.core.ownership import owner_names, ownership
from commands.core.parent_members import open_ones
from commands.execution.plan import Plan, PlanState, Risk
from commands.gates.second_person import consents
from commands.home.sections import (
    failed_trainings,
    leases_of,
    open_incident_blocks,
    trainings_of,
    waiting_for,
)
from commands.models import OPEN_REQUEST, CordonLease, ReclaimRequest
from commands.training.past_failures import PastFailure, recent_failures, with_causes


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowHome:
    pass


async def show(action: ShowHome, context: CommandContext) -> Answer:
    """Return the page of the sender. Moments are dates, not ages, so that it is the same until something changes."""
    cluster, me = context.cluster.name, context.actor
    names = owner_names(me, context.defaults.owners)
    async with context.store.read() as snapshot:
        incidents = await open_ones(cluster, snapshot)
        plans = await snapshot.rows(Plan).find(
            cluster=cluster, state=(PlanState.PROPOSED.value, PlanState.WAITING.value)
        )
        reclaims = await snapshot.rows(ReclaimRequest).find(
            cluster=cluster, state=tuple(one.value for one in OPEN_REQUEST)
        )
        leases = await snapshot.rows(CordonLease).find(cluster=cluster)
        failed = [
            one
            for one in await recent_failures(cluster, snapshot, context.now)
            if one.owner in names or me.is_one(one.owner_id)
        ]
        failures = await with_causes(failed, snapshot)
    mine = [one for one in leases if me.is_one(one.owner)]
    blocks: list[Block] = [
        *open_incident_blocks(incidents, me),
        *waiting_for(
            me,
            plans=[one for one in plans if _concerns(one, context)],
            reclaims=reclaims,
            leases=[one for one in mine if one.until is not None and one.until <= context.now],
        ),
        *_trainings(context, failures),
        *leases_of(mine),
        Context(
            text=text(
                cluster, " · ", sentence("`help` in Messages, or `/yard help`, lists what you can type")
            )
        ),
    ]
    return Answer(message=Message(title=text(bold("What is open, and what is yours")), blocks=tuple(blocks)))


def _concerns(plan: Plan, context: CommandContext) -> bool:
    """Whether the page shows the plan: the actor's own, and those for which they could be the second person."""
    me = context.actor
    if plan.state is PlanState.PROPOSED and context.now >= plan.expires_at:
        return False
    if me.is_one(plan.actor):
        return True
    return (
        plan.state is PlanState.PROPOSED
        and plan.risk is Risk.BREAK
        and (
            context.refusal(plan.command, *namespaces_of(plan.steps)) is None
            or consents(plan.disrupts, ownership(me, context.defaults.owners))
        )
    )


def _trainings(context: CommandContext, failures: Sequence[PastFailure]) -> list[Block]:
    names = owner_names(context.actor, context.defaults.owners)
    try:
        own = [one for one in context.cluster.trainings() if one.owner in names]
    except SourceError as error:
        unseen = sentence("⚪ Your trainings cannot be seen now: {error}", error=said_by(error))
        return [Context(text=text(unseen)), *failed_trainings(failures, ())]
    return [*trainings_of(own), *failed_trainings(failures, own)]


COMMANDS = (
    Command(
        noun="home",
        verb="",
        summary="Show what is open, what waits for you, and your trainings, GPUs and cordons.",
        action=ShowHome,
        read=show,
        shows=EVERY_SOURCE,
        for_everyone=True,
        example="home",
    ),
)
