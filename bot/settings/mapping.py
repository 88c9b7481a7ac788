"""Mapping of settings to the values that other parts use."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import time

from alerts.inhibition import InhibitRule
from alerts.matching import parse_matchers
from alerts.routing import CardRouting, MutingWindow, Route
from alerts.time_intervals import TimeInterval
from bot.person_book import PersonBook
from bot.settings.gates import BudgetSettings, WindowSettings
from bot.settings.people_settings import AutomationSettings, TeamSettings
from bot.settings.routes import RouteSettings
from bot.settings.schema import Settings
from collectors.facts.clock import Clock
from collectors.facts.daily_time import DailyTime
from commands.acceptance.suites import AcceptancePolicy, suite_of_settings
from commands.core.budget_pictures import Pool
from commands.core.budgets import Budgets
from commands.core.context import Cluster, Defaults
from commands.core.grant import Grant
from commands.core.node_script import NodeJobDefaults
from commands.core.permissions import Permissions
from commands.core.reboots import RebootDefaults
from commands.core.remediations import REMEDIATION
from commands.core.windows import WindowGate
from commands.execution.access import KubernetesUser
from commands.execution.impersonation import Impersonation
from commands.gates.breaker import BreakerLimits, BreakerScope
from commands.gates.budget import Budget, BudgetScope
from commands.gates.remediation import Allowance
from commands.gates.window import InWindow, PlannedWindow
from commands.node.own_leases import plans_of_leases
from commands.node.repair.repair_list import of_settings


def permissions_of(settings: Settings) -> Permissions:
    """Return who may run which commands."""

    def grant(one: TeamSettings | AutomationSettings) -> Grant:
        found = Grant(commands=one.commands, clusters=one.clusters, namespaces=one.namespaces)
        if isinstance(one, AutomationSettings):
            return found
        return replace(
            found, groups=one.slack_groups, channel=one.channel, may_confirm_alone=one.may_confirm_alone
        )

    return Permissions(
        teams={name: grant(team) for name, team in settings.teams.items()},
        automation={name: grant(automation) for name, automation in settings.automation.items()},
    )


def budgets_of(
    settings: Settings, clusters: Mapping[str, Cluster], clock: Clock, windows: WindowGate
) -> Budgets:
    """Return how many nodes may be out of service where."""
    return Budgets(
        clusters=clusters,
        clock=clock,
        budgets=tuple(map(_budget, settings.budgets)),
        pools={name: Pool(names=pool.nodes, labels=pool.labels) for name, pool in settings.pools.items()},
        of_automation=windows.of_automation,
        cordons=plans_of_leases,
    )


def allowance_of(settings: Settings) -> Allowance:
    """Return where rules may act by themselves; without the automation `remediation` nowhere."""
    found = settings.automation.get(REMEDIATION)
    return Allowance(rules=found.rules, clusters=found.clusters, pools=found.pools) if found else Allowance()


def breaker_of(settings: Settings) -> BreakerLimits:
    """Return when automation is stopped."""
    one = settings.breaker
    return BreakerLimits(
        scope=BreakerScope(one.scope), actions=one.actions, without_effect=one.without_effect
    )


def windows_of(settings: Settings) -> tuple[PlannedWindow, ...]:
    """Return the quiet hours and maintenance windows."""
    intervals = _intervals(settings)
    return tuple(
        PlannedWindow(
            interval=_together(name, one, intervals),
            clusters=one.clusters,
            automation=InWindow(one.automation),
            people_wait_with=one.people_wait_with,
            nodes=one.out_of_service,
            per_hour=one.per_hour,
            mutes=one.mutes or "",
            channel=one.channel,
        )
        for name, one in settings.windows.items()
    )


def _together(name: str, window: WindowSettings, intervals: Mapping[str, TimeInterval]) -> TimeInterval:
    periods = (period for one in window.time_intervals for period in intervals[one].periods)
    return TimeInterval(name=name, periods=tuple(periods))


def _intervals(settings: Settings) -> Mapping[str, TimeInterval]:
    return {
        name: TimeInterval(name=name, periods=tuple(one.period for one in periods))
        for name, periods in settings.time_intervals.items()
    }


def _budget(one: BudgetSettings) -> Budget:
    limit = one.out_of_service or ""
    return Budget(
        scope=BudgetScope(one.scope),
        of=one.of,
        clusters=one.clusters,
        commands=one.commands,
        nodes=int(limit) if limit.isdecimal() else None,
        percent=float(limit.removesuffix("%")) if limit.endswith("%") else None,
        per_hour=one.per_hour,
        automation_only=one.automation_only,
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
        stacks_image=commands.stacks_image,
        training_queues=commands.training_queues,
        links={one.name: one.links for one in settings.clusters},
        training_kinds=commands.training_kinds,
        owners=owners_of(settings, persons),
        redact=settings.redact,
        node_jobs=node_jobs_of(settings),
        reboot=_reboot(settings),
        repairs={name: of_settings(name, one) for name, one in settings.repairs.items()},
        acceptance=acceptance_of(settings),
    )


def acceptance_of(settings: Settings) -> AcceptancePolicy:
    """Return the suites that nodes must pass, and what follows from a pass."""
    one = settings.acceptance
    return AcceptancePolicy(
        suites={name: suite_of_settings(name, suite.tests) for name, suite in one.suites.items()},
        suite=one.suite,
        ends_lease=one.ends_lease,
        slow_below=one.slow_below,
        watched_for=one.watched_for,
    )


def node_jobs_of(settings: Settings) -> NodeJobDefaults:
    """Return where Jobs on nodes run, and with which images."""
    jobs = settings.node_jobs
    return NodeJobDefaults(
        namespace=jobs.namespace,
        image=jobs.image,
        images=jobs.images,
        pull_secrets=jobs.pull_secrets,
        start_within=jobs.start_within,
    )


def _reboot(settings: Settings) -> RebootDefaults:
    one = settings.reboot
    return RebootDefaults(
        annotation=one.annotation,
        label=one.label,
        has_webhook=one.webhook is not None,
        within=one.within,
        storage_team=one.storage_team,
        storage_labels=one.storage_labels,
    )


def owners_of(settings: Settings, persons: PersonBook) -> Mapping[str, str]:
    """Return who the owners are that the cluster names."""
    return {name: persons.person_of(id) for name, id in settings.commands.owners.items()}


def listed_persons(settings: Settings) -> Mapping[str, Sequence[str]]:
    """Return the ids of each person that the settings list."""
    return {name: person.ids for name, person in settings.people.items() if person.ids}


def daily_time_of(settings: Settings, persons: PersonBook) -> DailyTime:
    """Return when owners are reminded of their cordons, on the clock of each."""
    zones = {
        persons.person_of(one.ids[0]): one.timezone
        for one in settings.people.values()
        if one.ids and one.timezone is not None
    }
    at = settings.commands.daily_reminder
    return DailyTime(
        at=time.fromisoformat(at) if at else None,
        zone_of=lambda person: zones.get(person, settings.timezone),
    )


def impersonation_of(settings: Settings, persons: PersonBook) -> Impersonation:
    """Return who acts in which cluster in the name of whom. A person without a user is not listed."""
    return Impersonation(
        clusters={one.name for one in settings.clusters if one.impersonate},
        users={
            persons.person_of(person.ids[0]): KubernetesUser(
                user=person.kubernetes.user, groups=person.kubernetes.groups
            )
            for person in settings.people.values()
            if person.ids and person.kubernetes is not None and person.kubernetes.user is not None
        },
        person_of=persons.person_of,
    )


def routing_of(settings: Settings, *, default: str) -> CardRouting:
    """Return where alerts notify, and what keeps them from it. `default`: the channel of what no route claims."""
    intervals = _intervals(settings)
    return CardRouting(
        routes=tuple(_route_of(one, intervals) for one in settings.routes),
        default=default,
        inhibit_rules=tuple(
            InhibitRule(
                sources=parse_matchers(one.source), targets=parse_matchers(one.target), equal=one.equal
            )
            for one in settings.inhibit_rules
        ),
        windows=tuple(
            MutingWindow(
                interval=_together(name, one, intervals),
                matchers=parse_matchers(one.mutes),
                clusters=one.clusters,
            )
            for name, one in settings.windows.items()
            if one.mutes is not None
        ),
    )


def _route_of(one: RouteSettings, intervals: Mapping[str, TimeInterval]) -> Route:
    return Route(
        matchers=parse_matchers(one.match),
        channels=one.channels,
        to_nobody=one.nobody,
        continues=one.continue_,
        mutes=tuple(intervals[name] for name in one.mute_time_intervals),
        active=tuple(intervals[name] for name in one.active_time_intervals),
        routes=tuple(_route_of(inner, intervals) for inner in one.routes),
    )
