"""The cards of what rules would have done by themselves, and of breakers that stop automation."""

from datetime import datetime

from alerts.cards.message import Block, Button, Buttons, Color, Context, Message, Paragraph
from alerts.cards.posted import CardKind, PostedCard
from alerts.cards.text import bold, code, joined, markup, moment, person, text
from alerts.store import StoreSnapshot
from bot.cards.card_kind import CardContext, CardDefinition, Composed, own
from collectors.facts.sentences import sentence
from commands.breaker.commands import stopped_by
from commands.gates.breaker import Breaker
from commands.gates.remediation import Remediation, RemediationState

SHOWN = 10


def remediation_message(one: Remediation) -> Message:
    """Return what a rule would have done, why, and under which budget; or why it may not be done."""
    blocks: list[Block] = [Paragraph(text=text(bold("Why: "), markup(one.summary)))]
    if one.figures:
        blocks.append(Paragraph(text=joined("\n", map(markup, one.figures))))
    if one.state is RemediationState.REFUSED:
        blocks.append(Paragraph(text=text(bold("Reason: "), markup(one.reason))))
        title = text(sentence("{line} is not done by itself", line=code(one.line)))
    else:
        title = text(sentence("Trial: {title} would have been done", title=bold(one.title)))
        button = Button(label=sentence("{title}…", title=one.title), line=one.line)
        blocks.append(Buttons(buttons=(button,)))
    said = sentence("Nothing was done. Rule {rule} is in trial.", rule=one.rule_name)
    blocks.append(Context(text=text(said, " · ", code(one.line))))
    return Message(title=title, color=Color.INFO, blocks=tuple(blocks))


async def _compose_remediation(
    card: PostedCard, snapshot: StoreSnapshot, _shared: CardContext, _now: datetime
) -> Composed:
    found = await snapshot.rows(Remediation).get(card.row_id)
    return Composed(message=remediation_message(found) if found is not None else None, is_final=True)


async def _compose_breaker(
    card: PostedCard, snapshot: StoreSnapshot, _shared: CardContext, _now: datetime
) -> Composed:
    found = await snapshot.rows(Breaker).get(card.row_id)
    if found is None:
        return Composed(message=None, is_final=True)
    stopped = await stopped_by(found, snapshot)
    blocks: list[Block] = [Paragraph(text=text(bold("Reason: "), markup(found.reason)))]
    if stopped:
        lines = [code(one.line) for one in stopped[:SHOWN]]
        blocks.append(Paragraph(text=text(bold("Held back"), "\n", joined("\n", lines))))
    scope = found.place
    if found.closed_at is not None:
        who = person(found.closed_by, found.closed_by_name)
        closed = sentence("{who} closed it: {reason}", who=who, reason=found.closed_because)
        blocks.append(Context(text=text(closed, " · ", moment(found.closed_at))))
        title, color = sentence("Automation of {scope} runs again", scope=scope), Color.QUIET
    else:
        close = Button(label="Close the breaker…", line=f"breaker close {found.id}")
        blocks.append(Buttons(buttons=(close,)))
        title = (
            sentence("Automation of {scope} would be stopped (trial)", scope=scope)
            if found.is_trial
            else sentence("Automation of {scope} is stopped", scope=scope)
        )
        color = Color.WARNING
    blocks.append(Context(text=text(sentence("Breaker `{breaker}`", breaker=found.id))))
    return Composed(
        message=Message(title=text(bold(title)), color=color, blocks=tuple(blocks)),
        is_final=found.closed_at is not None,
    )


REMEDIATION_CARD = CardDefinition(
    kind=CardKind.REMEDIATION, compose=_compose_remediation, depends_on={Remediation: own}
)
BREAKER_CARD = CardDefinition(
    kind=CardKind.BREAKER,
    compose=_compose_breaker,
    depends_on={Breaker: own, Remediation: lambda one: (one.breaker,) if one.breaker else ()},
)
