"""The command `team list`: who may run what, and who they are."""

from dataclasses import dataclass

from alerts.cards.message import Block, Context, Fields, Message
from alerts.cards.text import Text, bold, channel, code, joined, person, text
from commands.core.command import Answer, Command, UnusableError
from commands.core.context import CommandContext

SHOWN = 20  # people of a team


@dataclass(frozen=True, slots=True)
class ListTeams:
    """Nothing to choose."""


async def listing(_action: ListTeams, context: CommandContext) -> Answer:
    """Return the teams with their people, what they may run and where they are asked."""
    if not context.teams:
        raise UnusableError("The settings have no teams, so nobody may change anything.")
    rows = [(name, await _described(name, context)) for name in sorted(context.teams)]
    own = ", ".join(sorted(context.actor.teams)) or "no team"
    note = "Yardmaster keeps no schedule: who is on call, the group in Slack says."
    blocks: tuple[Block, ...] = (
        Fields(rows=tuple(rows)),
        Context(text=text("You are in ", own, ". ", note)),
    )
    return Answer(message=Message(title=text(bold("Who may do what")), blocks=blocks))


async def _described(name: str, context: CommandContext) -> Text:
    grant = context.teams[name]
    members = await context.members(name) if context.members else ()
    people = joined(", ", [person(id) for id in members[:SHOWN]]) if members else text("nobody that is known")
    more = f" and {len(members) - SHOWN} more" if len(members) > SHOWN else ""
    may = joined(", ", [code(one) for one in grant.commands]) if grant.commands else text("only read")
    where = "" if "*" in grant.namespaces else f" in {', '.join(grant.namespaces)}"
    asked = text("\n", "asked in ", channel(grant.channel)) if grant.channel else ()
    return text(people, more, "\n", may, where, asked)


COMMANDS = (
    Command(
        noun="team",
        verb="list",
        summary="List the teams: their people, and what they may run.",
        action=ListTeams,
        read=listing,
        example="team list",
    ),
)
