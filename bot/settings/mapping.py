"""Mapping of settings to the values that other parts use."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from alerts.inhibition import InhibitRule
from alerts.matching import parse_matchers
from alerts.routing import CardRouting, Route
from alerts.time_intervals import TimeInterval
from bot.person_book import PersonBook
from bot.settings import schema
from bot.settings.schema import Settings
from commands.core.context import Defaults
from commands.core.grant import Grant
from commands.core.permissions import Permissions


def permissions_of(settings: Settings) -> Permissions:
    """Return who may run which commands."""

    def grant(one: schema.TeamSettings | schema.AutomationSettings) -> Grant:
        found = Grant(commands=one.commands, clusters=one.clusters, namespaces=one.namespaces)
        if isinstance(one, schema.AutomationSettings):
            return found
        return replace(found, groups=one.slack_groups, channel=one.channel)

    return Permissions(
        teams={name: grant(team) for name, team in settings.teams.items()},
        automation={name: grant(automation) for name, automation in settings.automation.items()},
    )


def defaults_of(settings: Settings, persons: PersonBook) -> Defaults:
    """Return the defaults of commands."""
    commands = settings.commands
    return Defaults(
        idle_after=commands.idle_after,
        reclaim_grace=commands.reclaim_grace,
        cordon_for=commands.cordon_for,
        pull_secret=commands.pull_secret,
        training_images=commands.training_images,
        owners=owners_of(settings, persons),
        redact=settings.redact,
    )


def owners_of(settings: Settings, persons: PersonBook) -> Mapping[str, str]:
    """Return who the owners are that the cluster names."""
    return {name: persons.person_of(id) for name, id in settings.commands.owners.items()}


def listed_persons(settings: Settings) -> Mapping[str, Sequence[str]]:
    """Return the ids of each person that the settings list."""
    return {name: person.ids for name, person in settings.people.items() if person.ids}


def routing_of(settings: Settings, *, default: str) -> CardRouting:
    """Return where alerts notify, and what keeps them from it. `default`: the channel of what no route claims."""
    intervals = {
        name: TimeInterval(name=name, periods=tuple(one.period for one in periods))
        for name, periods in settings.time_intervals.items()
    }
    return CardRouting(
        routes=tuple(_route_of(one, intervals) for one in settings.routes),
        default=default,
        inhibit_rules=tuple(
            InhibitRule(
                sources=parse_matchers(one.source), targets=parse_matchers(one.target), equal=one.equal
            )
            for one in settings.inhibit_rules
        ),
    )


def _route_of(one: schema.RouteSettings, intervals: Mapping[str, TimeInterval]) -> Route:
    return Route(
        matchers=parse_matchers(one.match),
        channels=one.channels,
        to_nobody=one.nobody,
        continues=one.continue_,
        mutes=tuple(intervals[name] for name in one.mute_time_intervals),
        active=tuple(intervals[name] for name in one.active_time_intervals),
        routes=tuple(_route_of(inner, intervals) for inner in one.routes),
    )
