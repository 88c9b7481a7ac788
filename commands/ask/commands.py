"""The command `ask`: somebody who may not run a line asks a team that may."""

from dataclasses import dataclass

from collectors.facts.sentences import sentence
from commands.core.command import Answer, Command, UnusableError
from commands.core.context import CommandContext


@dataclass(frozen=True, slots=True, kw_only=True)
class AskTeam:
    extra: tuple[str, ...]


async def ask(action: AskTeam, context: CommandContext) -> Answer:
    """Post the line's preview where the team that may run it reads."""
    if not action.extra:
        raise UnusableError(sentence("Write the line after `--`: `ask -- node cordon gpu-a04`."))
    if context.ask is None:
        raise UnusableError(sentence("Nobody can be asked here."))
    answer: Answer = await context.ask(action.extra, context)
    return answer


COMMANDS = (
    Command(
        noun="ask",
        verb="",
        summary="Ask a team to run a line that you may not run yourself.",
        action=AskTeam,
        record=ask,
        checks_permission_itself=True,
        allows_extra=True,
        needs_extra=True,
        for_whom="For members of any team.",
        example='ask -- node cordon gpu-a04 --reason "fan failure"',
        details="The preview is posted where the team reads, with your name; a person of the team confirms it. That is "
        "the team's channel in the settings, else that of the incident, else the default channel.",
    ),
)
