"""The command `remediation list`."""

from dataclasses import dataclass

from alerts.cards.message import Block, Button, Buttons, Color, Message, Table
from alerts.cards.text import bold, text
from collectors.facts.sentences import counted, moment_words, word
from commands.core.command import Answer, Command
from commands.core.context import CommandContext
from commands.core.parameters import flag
from commands.gates.remediation import Remediation, RemediationState

SHOWN = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRemediations:
    all: bool


async def listing(action: ListRemediations, context: CommandContext) -> Answer:
    """Return what waits and why, the newest first; with `--all` also what ran, would have run or was not done."""
    async with context.store.read() as snapshot:
        rows = snapshot.rows(Remediation)
        cluster = context.cluster.name
        if action.all:
            found = await rows.find(cluster=cluster, newest=True, limit=SHOWN)
        else:
            found = await rows.find(cluster=cluster, state=RemediationState.HELD.value, newest=True)
    buttons = () if action.all else (Button(label="All of them", line="remediation list --all"),)
    blocks: list[Block] = [Buttons(buttons=buttons)] if buttons else []
    if not found:
        nothing = "No rule has acted by itself yet." if action.all else "No action of a rule waits."
        return Answer(message=Message(title=text(nothing), color=Color.GOOD, blocks=tuple(blocks)))
    table = Table(
        heading=("rule", "line", "mode", "alert since", "state", "why"),
        rows=tuple(
            (
                one.rule_name,
                one.line,
                word("trial") if one.is_trial else word("live"),
                moment_words(one.since),
                word(one.state.value),
                one.reason,
            )
            for one in found[:SHOWN]
        ),
        more=max(0, len(found) - SHOWN),
    )
    title = (
        counted("{count} remediation", "{count} remediations", count=len(found))
        if action.all
        else counted("{count} remediation waits", "{count} remediations wait", count=len(found))
    )
    return Answer(message=Message(title=text(bold(title)), color=Color.INFO, blocks=(table, *blocks)))


COMMANDS = (
    Command(
        noun="remediation",
        verb="list",
        summary="Show what rules would do on their own and what each waits for.",
        action=ListRemediations,
        parameters=(flag("--all", help="also what ran, would have run, or was not done"),),
        read=listing,
        table=Remediation,
        example="remediation list",
    ),
)
