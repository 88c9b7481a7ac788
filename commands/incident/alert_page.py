"""The alerts of an incident by pages, however many they are."""

from alerts.cards.message import Context, Message, Table
from alerts.cards.text import bold, text
from alerts.incidents.incident import Incident, Member
from alerts.incidents.member_rows import pages_of
from alerts.store import StoreSnapshot
from collectors.facts.clock import humanize
from collectors.facts.sentences import counted, listed, sentence, word
from commands.core.command import Answer, UnusableError
from commands.core.context import CommandContext

PAGE = 25  # alerts


async def alert_page(
    incident: Incident, number: int, snapshot: StoreSnapshot, context: CommandContext
) -> Answer:
    """Return a page of the incident's alerts, the first ones first. Raises UnusableError without such a page."""
    pages = -(-incident.alerts // PAGE)
    if number > pages:
        raise UnusableError(
            counted(
                "Incident `{incident}` has {count} page of alerts.",
                "Incident `{incident}` has {count} pages of alerts.",
                incident=incident.id,
                count=pages,
            )
        )
    members = await _members(incident, (number - 1) * PAGE, snapshot)
    rows = tuple((member.summary, _state(member), _since(member, context)) for member in members)
    table = Table(heading=("alert", "state", "since"), rows=rows)
    title = text(
        bold(
            sentence(
                "Alerts of incident {incident}, page {number} of {pages}",
                incident=incident.id,
                number=number,
                pages=pages,
            )
        )
    )
    if number == pages:
        return Answer(message=Message(title=title, blocks=(table,)))
    more = Context(
        text=text(
            sentence(
                "The next: `incident show {incident} --page {page}`", incident=incident.id, page=number + 1
            )
        )
    )
    return Answer(message=Message(title=title, blocks=(table, more)))


async def _members(incident: Incident, start: int, snapshot: StoreSnapshot) -> list[Member]:
    """Return the alerts of the page: first those of the incident's document, then its rows."""
    found = list(incident.members[start : start + PAGE])
    place = len(incident.members)
    if incident.totals is None or len(found) == PAGE:
        return found
    async for page in pages_of(incident.id, snapshot):
        rows = [row.member for row in page]
        found += rows[max(0, start - place) : max(0, start + PAGE - place)]
        place += len(rows)
        if place >= start + PAGE:
            break
    return found[:PAGE]


def _state(member: Member) -> str:
    return listed((word(member.severity.value), word(member.state.value)))


def _since(member: Member, context: CommandContext) -> str:
    return humanize(context.now - (member.resolved_at or member.since), parts=1)
