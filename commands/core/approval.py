"""Approval: who may confirm a plan, and on what their confirmation rests. Pure."""

from collections.abc import Mapping

from alerts.cards.channel_id import kind_and_name
from alerts.cards.message import Button, Buttons
from collectors.facts.one_line import some_of
from collectors.facts.sentences import listed, sentence
from commands.core.command import AnyCommand, DeniedError, UnusableError
from commands.core.confirmation import SHOWN, commands_of, namespaces_of
from commands.core.ownership import ownership
from commands.core.permissions import Permissions
from commands.core.persons import Persons
from commands.core.request import Actor, ActorKind
from commands.execution.automation_ids import is_automation
from commands.execution.plan import Plan, Risk
from commands.gates.second_person import consents, team_alone

CONSENT = sentence("as the owner of what it ends")


def approved(
    plan: Plan,
    command: AnyCommand,
    actor: Actor,
    asker: Actor,
    *,
    hash: str,
    permissions: Permissions,
    owners: Mapping[str, str],
    is_own: bool = False,
) -> str:
    """Return on what a confirmation rests, for the audit; empty for a plan that needs no second person.

    `is_own`: what it is about is the actor's, who needs no grant for it. Raises DeniedError if the actor may not
    confirm it, and UnusableError if the hash is not that of the plan.
    """
    namespaces = namespaces_of(plan.steps)
    reason = permissions.refusal(actor, command, cluster=plan.cluster, namespaces=namespaces)
    # The owner of what ends may agree to what somebody asks who may run it: two people without a right have none.
    consent = (
        not actor.is_one(plan.actor)
        and consents(plan.disrupts, ownership(actor, owners))
        and permissions.refusal(asker, command, cluster=plan.cluster, namespaces=namespaces) is None
    )
    if reason is not None and not (reason and (consent or is_own)):
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
        return CONSENT if consent else sentence("as the second person")
    team = team_alone(
        actor.teams,
        permissions.teams,
        commands_of(command.name, over_budget=plan.over_budget),
        cluster=plan.cluster,
        namespaces=namespaces_of(plan.steps),
    )
    if team:
        return sentence("alone, as `teams.{team}.may_confirm_alone` allows", team=team)
    raise DeniedError(
        sentence(
            "This needs a second person, as {reasons}. You requested it, so someone else has to confirm it.",
            reasons=some_of(plan.breaks, SHOWN),
        ),
        plan=plan.id,
    )


def asker_of(plan: Plan, actor: Actor | None, persons: Persons) -> Actor:
    """Return who asked for the plan. `actor`: who confirms it, whose teams of now count if it is the same person."""
    is_same = actor is not None and actor.is_one(plan.actor)
    return Actor(
        id=kind_and_name(plan.actor)[1] if is_automation(plan.actor) else plan.actor,
        name=plan.actor_name,
        kind=ActorKind.AUTOMATION if is_automation(plan.actor) else ActorKind.PERSON,
        person=plan.actor,
        ids=persons.ids_of(plan.actor),
        teams=actor.teams if actor is not None and is_same else frozenset(plan.actor_teams),
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
