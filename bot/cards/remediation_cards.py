"""The cards of what rules would have done by themselves, and of breakers that stop automation."""

from datetime import datetime, timedelta

from alerts.cards.message import Block, Button, Buttons, Color, Context, Message, Paragraph
from alerts.cards.posted import CardKind, PostedCard
from alerts.cards.text import bold, code, joined, markup, moment, person, text
from alerts.incidents.incident import Incident
from alerts.store import StoreSnapshot
from bot.cards.card_kind import (
    CardContext,
    CardDefinition,
    Composed,
    Everywhere,
    all_of_its_cluster,
    all_where_it_was,
    composer_of,
    own,
)
from collectors.facts.sentences import sentence
from commands.breaker.commands import stopped_by
from commands.execution.plan import OVER, Plan, PlanState
from commands.gates.breaker import Breaker
from commands.gates.remediation import Remediation, RemediationState
from commands.models import CordonLease

SHOWN = 10
LOOK_AGAIN = timedelta(minutes=1)  # whether its incident is over


def remediation_message(one: Remediation, *, is_offered: bool = True) -> Message:
    """Return what a rule would have done, why, and under which budget; or why it may not be done.

    `is_offered`: it is not done yet, and there is a reason to do it.
    """
    blocks: list[Block] = [Paragraph(text=text(bold("Why: "), markup(one.summary)))]
    if one.figures:
        blocks.append(Paragraph(text=joined("\n", map(markup, one.figures))))
    if one.state is RemediationState.REFUSED:
        blocks.append(Paragraph(text=text(bold("Reason: "), markup(one.reason))))
        title = text(sentence("{line} is not done by itself", line=code(one.line)))
    else:
        title = text(sentence("Trial: {title} would have been done", title=bold(one.title)))
        button = Button(label=sentence("{title}…", title=one.title), line=one.line)
        blocks += [Buttons(buttons=(button,))] if is_offered else []
    said = sentence("Nothing was done. Rule {rule} is in trial.", rule=one.rule_name)
    blocks.append(Context(text=text(said, " · ", code(one.line))))
    return Message(title=title, color=Color.INFO, blocks=tuple(blocks))


async def _compose_remediation(
    found: Remediation, _card: PostedCard, snapshot: StoreSnapshot, _shared: CardContext, now: datetime
) -> Composed:
    is_offered = found.state is RemediationState.TRIAL and await _is_left_to_do(found, snapshot)
    message = remediation_message(found, is_offered=is_offered)
    return Composed(
        message=message, is_final=not is_offered, next_due=now + LOOK_AGAIN if is_offered else None
    )


async def _is_left_to_do(one: Remediation, snapshot: StoreSnapshot) -> bool:
    """Whether its incident is open, and nobody has cordoned the node or done the same for the incident."""
    incident = await snapshot.rows(Incident).get(one.incident)
    lease = await snapshot.rows(CordonLease).get(f"{one.cluster}/{one.node}")
    is_cordon = one.command == "node cordon"
    is_cordoned = is_cordon and lease is not None and lease.lifted_at is None
    plans = await snapshot.rows(Plan).find(incident=one.incident) if one.incident else ()
    # Of a cordon that was done the lease says whether it stands.
    ineffective = OVER if is_cordon else OVER - {PlanState.DONE}
    is_done = any(
        plan.command == one.command
        and plan.confirmed_at is not None
        and plan.state not in ineffective
        and not plan.undone_by
        for plan in plans
    )
    return (incident is None or incident.is_open) and not is_cordoned and not is_done


async def _compose_breaker(
    found: Breaker, _card: PostedCard, snapshot: StoreSnapshot, _shared: CardContext, _now: datetime
) -> Composed:
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
    kind=CardKind.REMEDIATION,
    compose=composer_of(Remediation, _compose_remediation),
    depends_on={
        Remediation: own,
        Plan: lambda plan: Everywhere(plan.cluster) if plan.incident else (),
        CordonLease: all_of_its_cluster,
        Incident: lambda _: (),  # it is looked at again after a minute
    },
    deleted={CordonLease: all_where_it_was},
)
BREAKER_CARD = CardDefinition(
    kind=CardKind.BREAKER,
    compose=composer_of(Breaker, _compose_breaker),
    depends_on={Breaker: own, Remediation: lambda one: (one.breaker,) if one.breaker else ()},
)
