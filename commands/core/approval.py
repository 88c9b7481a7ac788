"""Approval: who may confirm a plan, and on what their confirmation rests. Pure."""

from collections.abc import Mapping

from alerts.cards.message import Button, Buttons
from collectors.facts.one_line import some_of
from collectors.facts.sentences import listed, sentence
from commands.core.command import AnyCommand, DeniedError, UnusableError
from commands.core.confirmation import SHOWN, namespaces_of
from commands.core.ownership import ownership
from commands.core.permissions import Permissions
from commands.core.request import Actor, ActorKind
from commands.execution.plan import Plan, Risk
from commands.gates.second_person import consents, team_alone


def approved(
    plan: Plan,
    command: AnyCommand,
    actor: Actor,
    *,
    hash: str,
    permissions: Permissions,
    owners: Mapping[str, str],
) -> str:
    """Return on what a confirmation rests, for the audit; empty for a plan that needs no second person.

    Raises DeniedError if the actor may not confirm it, and UnusableError if the hash is not that of the plan.
    """
    consent = consents(plan.disrupts, ownership(actor, owners)) and not actor.is_one(plan.actor)
    reason = permissions.refusal(actor, command, cluster=plan.cluster, namespaces=namespaces_of(plan.steps))
    if reason is not None and not (consent and reason):
        raise DeniedError(reason, plan=plan.id)
    grounds = _second_person(plan, command, actor, permissions, consent=consent)
    if not hash:
        raise UnusableError(
            sentence(
                "To confirm plan `{plan}`, press Confirm on its preview. Typed, it needs the hash of the plan that "
                "you have seen, which `plan show {plan}` has.",
                plan=plan.id,
            ),
            blocks=(Buttons(buttons=(Button(label="Show the plan", line=f"plan show {plan.id}"),)),),
        )
    if hash != plan.hash:
        raise UnusableError(
            sentence(
                "Plan `{plan}` is not the plan you were shown: its hash is {hash}.",
                plan=plan.id,
                hash=plan.hash,
            )
        )
    return grounds


def _second_person(
    plan: Plan, command: AnyCommand, actor: Actor, permissions: Permissions, *, consent: bool
) -> str:
    if plan.risk is not Risk.BREAK:
        return ""
    if not actor.is_one(plan.actor):
        return sentence("as the owner of what it ends") if consent else sentence("as the second person")
    if team := team_alone(actor.teams, permissions.teams, command.name, cluster=plan.cluster):
        return sentence("alone, as `teams.{team}.may_confirm_alone` allows", team=team)
    raise DeniedError(
        sentence(
            "This needs a second person, as {reasons}. You requested it, so someone else has to confirm it.",
            reasons=some_of(plan.breaks, SHOWN),
        ),
        plan=plan.id,
    )


def check_automation(plan: Plan, actor: Actor) -> None:
    """Raise DeniedError for a plan of an automation that needs a second person: nobody would be asked."""
    if actor.kind is ActorKind.AUTOMATION and plan.risk is Risk.BREAK:
        raise DeniedError(
            sentence(
                "`{command}` needs a second person, so automation cannot run it: {reasons}.",
                command=plan.command,
                reasons=listed(plan.breaks, most=SHOWN),
            ),
            plan=plan.id,
        )
