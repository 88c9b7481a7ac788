"""The preview of a plan: what it would do, and the buttons to confirm or cancel it."""

from alerts.cards.message import (
    Block,
    Button,
    Buttons,
    ButtonStyle,
    Color,
    Context,
    Message,
    Paragraph,
)
from alerts.cards.text import Text, bold, code, group, joined, markup, person, text
from collectors.facts.sentences import counted, listed, sentence
from commands.execution.going_over import button_label, heading_of_reason
from commands.execution.plan import Plan, Risk

STEPS_SHOWN = 12
DISRUPTED_SHOWN = 8


def preview(plan: Plan) -> Message:
    """Return the preview: the steps, what they disrupt, and the buttons to confirm or cancel."""
    blocks: list[Block] = []
    if plan.asked_of:
        asker = person(plan.actor, plan.actor_name)
        asked = text(
            sentence("{who} asks {teams} to confirm this.", who=asker, teams=listed(plan.asked_of, "or"))
        )
        mentions = joined(" ", (group(id, f"@{id}") for id in plan.asked_groups))
        blocks.append(Paragraph(text=text(asked, " ", mentions) if mentions else asked))
    if plan.disrupts:
        disrupted = listed((one.said for one in plan.disrupts), most=DISRUPTED_SHOWN)
        blocks.append(Paragraph(text=text(bold("Disrupts: "), disrupted)))
    if plan.price:
        blocks.append(Paragraph(text=_at_stake(plan)))
    blocks.append(Paragraph(text=_will(plan)))
    if plan.notes:
        blocks.append(Paragraph(text=joined("\n", (text("• ", markup(note)) for note in plan.notes))))
    if plan.over_budget:
        blocks.append(Paragraph(text=text(heading_of_reason(plan.held_by, plan.over_budget))))
    if plan.held:
        waits = sentence(
            "{heading} {held}", heading=bold(sentence("Confirmed, it would wait.")), held=plan.held
        )
        blocks.append(Paragraph(text=text(waits)))
    if plan.risk is Risk.BREAK:
        blocks.append(Paragraph(text=_second_person(plan)))
    blocks.append(Buttons(buttons=(*decision(plan), *going_over(plan))))
    blocks.append(
        Context(
            text=text(
                "The API server accepted a dry run. Nothing is done yet"
                if plan.is_dry_run
                else "Nothing is done yet",
                " · ",
                code(plan.line),
                " · ",
                sentence("on {cluster} · plan `{plan}`", cluster=plan.cluster, plan=plan.id),
            )
        )
    )
    return Message(
        title=text(bold(sentence("{title}?", title=plan.title))),
        color=Color.WARNING if plan.disrupts else Color.INFO,
        blocks=tuple(blocks),
    )


def _at_stake(plan: Plan) -> Text:
    """What is at stake in all, and of each, what costs least first: in that order the plan ends them."""
    each = [text("• ", markup(one.said)) for one in plan.stakes[:DISRUPTED_SHOWN]]
    if (more := len(plan.stakes) - DISRUPTED_SHOWN) > 0:
        each.append(text(sentence("… and {more} more: `plan show {plan}`", more=more, plan=plan.id)))
    if len(plan.stakes) == 1:
        return text(bold("At stake: "), markup(plan.stakes[0].said))
    return joined("\n", [text(bold("At stake: "), markup(plan.price)), *each])


def _second_person(plan: Plan) -> Text:
    """Why a second person has to confirm the plan, and who may."""
    why = text(
        sentence(
            "{heading}: {reasons}.",
            heading=bold(sentence("A second person has to confirm it")),
            reasons=listed(plan.breaks, most=DISRUPTED_SHOWN),
        )
    )
    asker = person(plan.actor, plan.actor_name)
    if plan.alone:
        who = sentence(
            "{who} may confirm it alone: the settings of team {team} allow that.", who=asker, team=plan.alone
        )
    elif (
        not plan.undo_of
        and len(owners := {one.owner for one in plan.disrupts if one.ends}) == 1
        and all(owners)
    ):
        who = sentence(
            "Anybody else who may run `{command}` can confirm it, and so can {owner}.",
            command=plan.command,
            owner=owners.pop(),
        )
    else:
        who = sentence("Anybody else who may run `{command}` can confirm it.", command=plan.command)
    if plan.asked_of or plan.alone:  # it says who asks
        return text(why, " ", who)
    asked = sentence("{who} asked for it ({at}).", who=asker, at=plan.created_at)
    return text(why, " ", asked, " ", who)


def expired(plan: Plan) -> Message:
    """Return the card of a plan that nobody confirmed in time."""
    asked = sentence(
        "Nobody confirmed it in time; nothing was done. {who} asked for it.",
        who=person(plan.actor, plan.actor_name),
    )
    line = text(code(plan.line), " · ", sentence("plan `{plan}`", plan=plan.id))
    return Message(
        title=text(sentence("{title}: not confirmed", title=bold(plan.title))),
        color=Color.QUIET,
        blocks=(Paragraph(text=text(asked)), Context(text=line)),
    )


def _will(plan: Plan) -> Text:
    """The steps as text, numbered if there are several."""
    shown = [step.description for step in plan.steps[:STEPS_SHOWN]]
    if len(plan.steps) == 1:
        return text(bold("It will "), markup(shown[0]))
    lines = [text(f"{number}. ", markup(description)) for number, description in enumerate(shown, start=1)]
    if len(plan.steps) > len(shown):
        more = counted(
            "… {count} more step: `plan show {plan}`",
            "… {count} more steps: `plan show {plan}`",
            count=len(plan.steps) - len(shown),
            plan=plan.id,
        )
        lines.append(text(more))
    return text(bold("It will"), "\n", joined("\n", lines))


def decision(plan: Plan) -> tuple[Button, Button]:
    """Return the buttons that confirm or cancel a proposed plan. Only what was shown can be confirmed."""
    is_dangerous = plan.risk is Risk.BREAK or bool(plan.disrupts)
    confirm = Button(
        label="Confirm",
        line=f"plan confirm {plan.id} --hash {plan.hash}",
        style=ButtonStyle.DANGER if is_dangerous else ButtonStyle.PRIMARY,
    )
    return confirm, Button(label="Cancel", line=f"plan cancel {plan.id}")


def going_over(plan: Plan) -> tuple[Button, ...]:
    """Return the button that takes a plan over what holds it back; its form asks for the reason."""
    if not plan.held:
        return ()
    return (Button(label=button_label(plan.held_by), line=f"plan exceed {plan.id}"),)
