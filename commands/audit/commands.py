"""The command `audit`: who did what, when, and how it ended."""

from dataclasses import dataclass
from datetime import timedelta

from alerts.cards.message import Message, Table
from alerts.cards.text import bold, person, text
from collectors.facts.sentences import listed, moment_words, sentence
from commands.audit.search import AuditFilter, found
from commands.core.command import Answer, Command
from commands.core.context import CommandContext
from commands.core.parameter_types import DURATION, PERSON, PLAN, RECORDED, ChoiceType, WholeNumberType
from commands.core.parameters import option
from commands.models import AUDITED, AuditEntry

SHOWN = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowAudit:
    of: str
    by: str
    since: timedelta | None
    what: str | None
    plan: str
    last: int


async def audit(action: ShowAudit, context: CommandContext) -> Answer:
    """Return the newest entries first: asked, refused, confirmed, held, done, failed, cancelled."""
    by = action.by.lstrip("@")
    wanted = AuditFilter(
        subject=action.of,
        ids=context.persons.ids_of(context.persons.person_of(by)) if by else (),
        name=by,
        since=context.now - action.since if action.since else None,
        what=action.what or "",
        plan=action.plan,
    )
    async with context.store.read() as snapshot:
        entries = await found(snapshot, wanted, cluster=context.cluster.name, most=action.last)
    if not entries:
        return Answer(message=Message(title=text("No matching entries.")))
    rows = tuple(
        (
            moment_words(one.at),
            person(one.actor, one.actor_name).text,
            one.what,
            one.line,
            one.plan,
            _said(one),
        )
        for one in entries
    )
    table = Table(heading=("when", "who", "what", "line", "plan", "reason"), rows=rows)
    return Answer(message=Message(title=text(bold("Audit log, newest first")), blocks=(table,)))


def _said(entry: AuditEntry) -> str:
    """Return the entry's reason, and what a plan that was confirmed put at stake."""
    if entry.what != "confirmed" or not entry.price:
        return entry.text
    return listed(filter(None, (entry.text, sentence("at stake: {price}", price=entry.price))), ";")


COMMANDS = (
    Command(
        noun="audit",
        verb="",
        summary="Show who did what, and how it ended.",
        action=ShowAudit,
        parameters=(
            option(
                "--of", type=RECORDED, metavar="NAME", help="only entries about this node, training or team"
            ),
            option("--by", type=PERSON, help="only entries of this person or automation"),
            option("--since", type=DURATION, help="only entries of this last time, such as 7d"),
            option(
                "--what",
                type=ChoiceType(AUDITED),
                metavar="KIND",
                help=sentence("only entries that say: {kinds}", kinds=listed(AUDITED, "or")),
            ),
            option("--plan", type=PLAN, help="only entries of this plan"),
            option(
                "--last",
                type=WholeNumberType(least=1, most=200),
                default=SHOWN,
                metavar="N",
                help=sentence("how many of the latest entries; default: {number}", number=SHOWN),
            ),
        ),
        read=audit,
        example="audit --of gpu-a04 --since 7d",
    ),
)
