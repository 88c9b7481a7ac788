"""Checks of settings that name each other: each yields the path of what is wrong, and why."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from alerts.cards.channel_id import kind_and_name
from alerts.loading.node_reader import did_you_mean
from bot.settings.channels import ChannelSettings, channel_error
from bot.settings.locations import KeyPath
from bot.settings.routes import RouteSettings
from bot.settings.schema import Settings
from commands.core.budgets import DEFAULT_POOL
from commands.core.persons import TOKEN
from commands.core.remediations import REMEDIATION

WrongSetting = tuple[KeyPath, str]


def cross_checks(settings: Settings, *, left_out: frozenset[str]) -> Iterator[WrongSetting]:
    """Check what settings say of each other. `left_out`: sections with errors, which other settings may still name."""
    yield from _cluster_names(settings)
    yield from _default_cluster(settings)
    if "time_intervals" not in left_out:
        yield from _intervals(settings.routes, tuple(settings.time_intervals), ("routes",))
        yield from _windows(settings)
    if "clusters" not in left_out:
        yield from _clusters(settings)
    if not left_out & {"clusters", "pools"}:
        yield from _budgets(settings)
    yield from _people(settings, left_out)
    yield from _remediation_only(settings)
    yield from _team_channels(settings, left_out)
    yield from _channels(settings.routes, settings, ("routes",), left_out)
    for name, window in settings.windows.items():
        if window.channel:
            yield from _channel(window.channel, settings, ("windows", name, "channel"), left_out)
    for place, channel in enumerate(settings.fallback.channels):
        yield from _channel(channel, settings, ("fallback", "channels", place), left_out)


def _cluster_names(settings: Settings) -> Iterator[WrongSetting]:
    names = [cluster.name for cluster in settings.clusters]
    for number, name in enumerate(names):
        if name in names[:number]:
            yield ("clusters", number, "name"), f"two clusters are named {name}"


def _clusters(settings: Settings) -> Iterator[WrongSetting]:
    if "clusters" in settings.model_fields_set and not settings.clusters:
        yield ("clusters",), "lists no cluster: name one, or leave `clusters` out"
    names = [cluster.name for cluster in settings.clusters]
    for section in ("teams", "automation"):
        for name, grant in getattr(settings, section).items():
            for number, pattern in enumerate(grant.clusters):
                if pattern != "*" and not any(fnmatchcase(one, pattern) for one in names):
                    text = f"`{pattern}` is none of the clusters{did_you_mean(pattern, names)}"
                    yield (section, name, "clusters", number), text


def _people(settings: Settings, left_out: frozenset[str]) -> Iterator[WrongSetting]:
    """Check that no id is two people's, and that the tokens are there."""
    owners: dict[str, str] = {}
    tokens = [token.actor for token in settings.http.auth.tokens]
    for name, person in settings.people.items():
        for number, id in enumerate(person.ids):
            path: KeyPath = ("people", name, "ids", number)
            if id in owners:
                whose = "already listed here" if owners[id] == name else f"an id of {owners[id]}"
                yield path, f"`{id}` is {whose}: an id is one person's"
            owners.setdefault(id, name)
            kind, actor = kind_and_name(id)
            if kind == TOKEN and actor not in tokens and "http" not in left_out:
                yield path, f"`{actor}` is not an actor of http.auth.tokens{did_you_mean(actor, tokens)}"


def _default_cluster(settings: Settings) -> Iterator[WrongSetting]:
    names = [cluster.name for cluster in settings.clusters]
    named: dict[KeyPath, str] = {("receive", "default_cluster"): settings.receive.default_cluster}
    if settings.receive.alertmanager is not None:
        named["receive", "alertmanager", "cluster"] = settings.receive.alertmanager.cluster
    for path, name in named.items():
        if name and name not in names:
            yield path, f"`{name}` is none of the clusters{did_you_mean(name, names)}"


def _intervals(
    routes: Iterable[RouteSettings], names: tuple[str, ...], path: KeyPath
) -> Iterator[WrongSetting]:
    for number, route in enumerate(routes):
        for field in ("mute_time_intervals", "active_time_intervals"):
            for place, name in enumerate(getattr(route, field)):
                if name not in names:
                    text = f"`{name}` is none of the time_intervals{did_you_mean(name, names)}"
                    yield (*path, number, field, place), text
        yield from _intervals(route.routes, names, (*path, number, "routes"))


def _remediation_only(settings: Settings) -> Iterator[WrongSetting]:
    for name, one in settings.automation.items():
        for field in ("rules", "pools"):
            if name != REMEDIATION and field in one.model_fields_set:
                yield ("automation", name, field), f"only `{REMEDIATION}` has {field}"


def _windows(settings: Settings) -> Iterator[WrongSetting]:
    names = tuple(settings.time_intervals)
    for window, one in settings.windows.items():
        for place, name in enumerate(one.time_intervals):
            if name not in names:
                text = f"`{name}` is none of the time_intervals{did_you_mean(name, names)}"
                yield ("windows", window, "time_intervals", place), text


def _budgets(settings: Settings) -> Iterator[WrongSetting]:
    """Check that each budget limits something: a pattern that fits nothing would hold nothing back."""
    clusters = [cluster.name for cluster in settings.clusters]
    names = {"cluster": clusters, "pool": [*settings.pools, DEFAULT_POOL]}
    for number, budget in enumerate(settings.budgets):
        for place, pattern in enumerate(budget.clusters):
            if pattern != "*" and not any(fnmatchcase(one, pattern) for one in clusters):
                text = f"`{pattern}` is none of the clusters{did_you_mean(pattern, clusters)}"
                yield ("budgets", number, "clusters", place), text
        known = names.get(budget.scope)  # racks and the teams of work are known in the cluster only
        if known is not None and budget.of != "*" and not any(fnmatchcase(one, budget.of) for one in known):
            text = f"`{budget.of}` is none of the {budget.scope}s{did_you_mean(budget.of, known)}"
            yield ("budgets", number, "of"), text


def _team_channels(settings: Settings, left_out: frozenset[str]) -> Iterator[WrongSetting]:
    for name, team in settings.teams.items():
        if team.channel and not (left_out & {"slack", "channels"}):
            error = channel_error(team.channel, slack=settings.slack, channels=settings.channels)
            if error:
                yield ("teams", name, "channel"), error


def _channels(
    routes: Iterable[RouteSettings], settings: Settings, path: KeyPath, left_out: frozenset[str]
) -> Iterator[WrongSetting]:
    for number, route in enumerate(routes):
        for place, channel in enumerate(route.channels):
            yield from _channel(channel, settings, (*path, number, "channels", place), left_out)
        yield from _channels(route.routes, settings, (*path, number, "routes"), left_out)


def _channel(
    channel: str, settings: Settings, path: KeyPath, left_out: frozenset[str]
) -> Iterator[WrongSetting]:
    kind, _ = kind_and_name(channel)
    is_unsure = (kind == "slack" and "slack" in left_out) or (
        kind in ChannelSettings.model_fields and "channels" in left_out
    )
    error = channel_error(channel, slack=settings.slack, channels=settings.channels)
    if error and not is_unsure:
        yield path, error
