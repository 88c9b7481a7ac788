"""Asking a team: the preview of a plan that the asker may not confirm, posted where that team reads."""

from collections.abc import Sequence
from dataclasses import replace

from alerts.cards.message import Color, Message
from alerts.cards.text import channel, text
from alerts.store import StoreSnapshot
from collectors.facts.sentences import listed, sentence
from commands.core.command import Answer, AnyCommand, DeniedError, UnusableError
from commands.core.confirmation import namespaces_of
from commands.core.context import CommandContext
from commands.core.parent_members import cards_about
from commands.core.parsing import action_of
from commands.core.planner import Planner, put_shown
from commands.execution.plan import Origin, Plan, PlanState, Risk


async def ask_teams(
    command: AnyCommand, words: Sequence[str], context: CommandContext, planner: Planner, *, line: str
) -> Answer:
    """Propose the plan to the teams that may confirm it. Raises UnusableError and DeniedError."""
    if not context.actor.teams:
        raise DeniedError(sentence("You are in no team, so you cannot ask another one to run a command."))
    if command.plan is None:
        raise UnusableError(
            sentence(
                "`{command}` shows no preview, so nobody can be asked to confirm it.", command=command.name
            )
        )
    plan, draft, teams = await planner.make_for_others(command, action_of(command, words), context, line=line)
    if draft.nothing_to_do:
        raise UnusableError(draft.nothing_to_do)
    if not teams:
        raise DeniedError(sentence("No team may run `{line}`.", line=line))
    if plan.risk is not Risk.BREAK and context.refusal(command.name, *namespaces_of(draft.steps)) is None:
        note = sentence("You may confirm this yourself, so nobody was asked.")
        return await planner.propose(replace(plan, notes=(note, *plan.notes)), draft)
    where = await _channel(teams[0], context)
    if not where:
        raise UnusableError(sentence("There is no channel where {team} can be asked.", team=teams[0]))
    origin = Origin(via=context.origin.via, channel=where, incident=context.origin.incident)
    groups = dict.fromkeys(id for team in teams if team in context.teams for id in context.teams[team].groups)
    plan = replace(plan, asked_of=teams, asked_groups=tuple(groups), origin=origin)
    async with context.store.unit() as unit:
        for one in await unit.rows(Plan).find(
            actor=context.persons.ids_of(plan.actor), state=PlanState.PROPOSED.value
        ):
            if one.line == plan.line and one.asked_of and plan.created_at < one.expires_at:
                raise UnusableError(sentence("You asked for this already: see plan `{plan}`.", plan=one.id))
        await put_shown(plan, unit)
    planner.start(plan)
    asked = sentence(
        "Asked {teams} in {channel}: {title} · plan `{plan}`.",
        teams=listed(teams, "or"),
        channel=channel(where),
        title=plan.title,
        plan=plan.id,
    )
    return Answer(message=Message(title=text(asked), color=Color.INFO))


async def _channel(team: str, context: CommandContext) -> str:
    """Return where a team reads: its own channel, that of the incident, or the default."""
    if own := context.channels.get(team, ""):
        return own
    async with context.store.read() as snapshot:
        return await _of_incident(context.origin.incident, snapshot) or context.channels.get("", "")


async def _of_incident(incident: str, snapshot: StoreSnapshot) -> str:
    cards = await cards_about(incident, snapshot) if incident else ()
    return next((card.channel for card in cards), "")
