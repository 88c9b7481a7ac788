"""This file shows claims: the question to an owner whose GPUs do nothing, and what came of it. Pure."""

from datetime import datetime

from alerts.telling.views import (
    Block,
    Button,
    Buttons,
    ButtonStyle,
    Paragraph,
    Small,
    Span,
    Text,
    Tone,
    View,
    bold,
    code,
    moment,
    person,
    text,
)
from commands.rows import Claim, ClaimState


def claim_view(claim: Claim, now: datetime) -> View:
    """The card of a claim as it stands."""
    owner = person(claim.owner_id, claim.owner or "owner unknown")
    blocks: list[Block] = [Paragraph(text=_said(claim, owner))]
    if claim.evidence:
        blocks.append(Paragraph(text=text(claim.evidence)))
    if claim.standing in (ClaimState.ASKED, ClaimState.SNOOZED):
        buttons = (
            Button(label="Free them now", line=f"gpu release {claim.id}", style=ButtonStyle.DANGER),
            Button(label="Keep", line=f"gpu keep {claim.id}"),
            Button(label="Ask me in 2 hours", line=f"gpu snooze {claim.id}"),
        )
        blocks.append(Buttons(buttons=buttons))
    asked = text("asked by ", person(claim.asked_by, claim.asked_by_name), " ", moment(claim.asked_at))
    blocks.append(Small(text=text(asked, " · claim ", code(claim.id))))
    title = text(bold(f"{claim.gpus:g} GPUs of {claim.training} do nothing"))
    return View(title=title, tone=_tone(claim), blocks=tuple(blocks))


def _said(claim: Claim, owner: Span) -> Text:
    match claim.standing:
        case ClaimState.ASKED:
            end = moment(claim.grace_until, f"{claim.grace_until:%H:%M} UTC")
            return text(owner, ": may they be freed? Without an answer the training is stopped ", end, ".")
        case ClaimState.KEPT:
            why = f": {claim.keep_reason}" if claim.keep_reason else ""
            return text("✓ ", person(claim.answered_by), f" keeps them{why}.")
        case ClaimState.SNOOZED:
            return text("Snoozed by ", person(claim.answered_by), " until ", moment(claim.grace_until), ".")
        case ClaimState.FREED:
            return text(f"✓ Freed: {claim.gpus:g} GPUs are back.")
        case ClaimState.VOID:
            return text("Nothing to free any more: the training ended, or works again.")


def _tone(claim: Claim) -> Tone:
    if claim.standing is ClaimState.ASKED:
        return Tone.WARNING
    return Tone.GOOD if claim.standing is ClaimState.FREED else Tone.QUIET
