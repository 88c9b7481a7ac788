"""The command `team list`: who may run what, and who they are."""

from dataclasses import dataclass

from alerts.cards.message import Block, Context, Fields, Message
from alerts.cards.text import Text, bold, channel, code, person, text
from collectors.facts.sentences import Sentence, listed, sentence
from commands.core.command import Answer, Command, UnusableError
from commands.core.context import CommandContext

SHOWN = 20  # people of a team


@dataclass(frozen=True, slots=True)
class ListTeams:
    """Nothing to choose."""


async def listing(_action: ListTeams, context: CommandContext) -> Answer:
    """Return the teams with their people, what they may run and where they are asked."""
    if not context.teams:
        raise UnusableError(sentence("The settings have no teams, so nobody may change anything."))
    rows = [(name, await _described(name, context)) for name in sorted(context.teams)]
    own = listed(sorted(context.actor.teams)) or sentence("no team")
    note = sentence("Yardmaster keeps no schedule: the group in Slack says who is on call.")
    blocks: tuple[Block, ...] = (
        Fields(rows=tuple(rows)),
        Context(text=text(listed((sentence("You are in {teams}.", teams=own), note), "."))),
    )
    return Answer(message=Message(title=text(bold("Who may do what")), blocks=blocks))


async def _described(name: str, context: CommandContext) -> Text:
    grant = context.teams[name]
    members = await context.members(name) if context.members else ()
    people = listed(map(person, members), most=SHOWN) or sentence("nobody that is known")
    may: Sentence = listed(map(code, grant.commands)) or sentence("only read")
    if "*" not in grant.namespaces:
        may = sentence("{commands} in {namespaces}", commands=may, namespaces=listed(grant.namespaces))
    asked = (
        text("\n", sentence("asked in {channel}", channel=channel(grant.channel))) if grant.channel else ()
    )
    return text(people, "\n", may, asked)


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
