"""This file turns settings into the values that the house works with."""

from alerts.matching import parse_matchers
from alerts.routing import Route
from bot.http.server import Sender, sender
from bot.settings import schema as given
from bot.settings.schema import Settings, secret
from commands.core.context import Defaults
from commands.core.permissions import Grant, Permissions


def permissions_of(settings: Settings) -> Permissions:
    """Who may do what."""

    def grant(one: given.TeamSettings | given.AutomationSettings) -> Grant:
        return Grant(commands=one.commands, clusters=one.clusters, namespaces=one.namespaces)

    return Permissions(
        teams={name: grant(team) for name, team in settings.teams.items()},
        automation={name: grant(automation) for name, automation in settings.automation.items()},
    )


def defaults_of(settings: Settings) -> Defaults:
    """How commands behave here."""
    wishes = settings.commands
    return Defaults(
        idle_after=wishes.idle_after,
        reclaim_grace=wishes.reclaim_grace,
        cordon_for=wishes.cordon_for,
        pull_secret=wishes.pull_secret,
        training_images=wishes.training_images,
        owners=wishes.owners,
        redact=settings.redact,
    )


def route_of(one: given.RouteSettings) -> Route:
    """A node of the routing tree."""
    return Route(
        matchers=parse_matchers(one.match),
        channels=one.channels,
        continues=one.continue_,
        routes=tuple(route_of(inner) for inner in one.routes),
    )


def senders_of(settings: Settings) -> tuple[Sender, ...]:
    """Who the tokens of the HTTP endpoints stand for."""
    found = []
    for one in settings.http.auth.tokens:
        token = secret(one.token, one.token_file)
        if token is not None:
            found.append(sender(one.actor, token, one.teams))
    return tuple(found)
