"""Mapping of settings to the values that other parts use."""

from alerts.matching import parse_matchers
from alerts.routing import Route
from bot.settings import schema
from bot.settings.schema import Settings
from commands.core.context import Defaults
from commands.core.grant import Grant
from commands.core.permissions import Permissions


def permissions_of(settings: Settings) -> Permissions:
    """Return who may run which commands."""

    def grant(one: schema.TeamSettings | schema.AutomationSettings) -> Grant:
        channel = one.channel if isinstance(one, schema.TeamSettings) else ""
        return Grant(commands=one.commands, clusters=one.clusters, namespaces=one.namespaces, channel=channel)

    return Permissions(
        teams={name: grant(team) for name, team in settings.teams.items()},
        automation={name: grant(automation) for name, automation in settings.automation.items()},
    )


def defaults_of(settings: Settings) -> Defaults:
    """Return the defaults of commands."""
    commands = settings.commands
    return Defaults(
        idle_after=commands.idle_after,
        reclaim_grace=commands.reclaim_grace,
        cordon_for=commands.cordon_for,
        pull_secret=commands.pull_secret,
        training_images=commands.training_images,
        owners=commands.owners,
        redact=settings.redact,
    )


def route_of(one: schema.RouteSettings) -> Route:
    """Return a node of the routing tree."""
    return Route(
        matchers=parse_matchers(one.match),
        channels=one.channels,
        continues=one.continue_,
        routes=tuple(route_of(inner) for inner in one.routes),
    )
