"""The product's rule loop beside a Prometheus with the same rules: what differs after each of its evaluations.

Prometheus evaluates a group at moments that only it knows, so each group is evaluated as of the moment that Prometheus
says it has just evaluated it. Then labels, states and annotations with their values are comparable, exactly.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import aiohttp

from alerts.alert import Alert
from alerts.loading.own_annotations import OWN
from alerts.rendering import RuleRenderer
from alerts.rules import Rule
from bot.evaluation.scheduler import RuleScheduler
from collectors.facts.queries import PromQLQuery
from collectors.facts.redaction import Redactor
from collectors.facts.topology import Topology
from collectors.query_router import QueryRouter
from tests.bot.evaluation.beside_prometheus.rule_set import RuleFile

EVERY = timedelta(seconds=15)
_CLUSTER = "prod-a"
_POLL = 1.0  # seconds
_BLIND = "blind: "  # before the reason

AlertLabels = tuple[tuple[str, str], ...]


class DifferenceCause(StrEnum):
    """Why an alert differs, where the reason is known."""

    # By Prometheus at its restart: how long a short `for` has lasted, what keeps firing, and that it has a hole.
    FORGOTTEN = "forgotten"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Difference:
    """An alert, or a blind rule without labels, that is not the same on both sides."""

    rule: str
    labels: AlertLabels
    ours: str
    theirs: str
    cause: DifferenceCause = DifferenceCause.UNKNOWN

    @property
    def alert(self) -> tuple[str, AlertLabels]:
        return self.rule, self.labels


@dataclass(slots=True)
class FollowedGroup:
    """A group of rules: its loop, and what differed at its last evaluations."""

    interval: timedelta
    is_own: bool  # some annotations are fields of the rule
    rules: Sequence[Rule]
    loop: RuleScheduler
    at: datetime | None = None
    # A moment at which Prometheus evaluated it; the others are whole intervals from it.
    grid: datetime | None = None
    evaluations: int = 0
    differences: deque[tuple[Difference, ...]] = field(default_factory=lambda: deque(maxlen=3))
    alerts: int = 0  # at the last evaluation, in Prometheus
    held: int = 0  # of ours, as their target has no data any more

    def lasting(self) -> tuple[Difference, ...]:
        """Return what differed at each of the last evaluations. A scrape that ends during one is seen by the later."""
        if not self.differences:
            return ()
        always = set.intersection(*({one.alert for one in found} for found in self.differences))
        return tuple(one for one in self.differences[-1] if one.alert in always)


class Followed:
    """All groups."""

    def __init__(self, files: Sequence[RuleFile], router: Callable[[], QueryRouter], url: str) -> None:
        self._url = url
        self.files = len(files)
        renderer = RuleRenderer(
            lambda: Topology(cluster=_CLUSTER), clean=Redactor(()).clean, external_url=url
        )
        self.groups = {
            (file.name, group.name): FollowedGroup(
                is_own=file.own,
                interval=group.interval or EVERY,
                rules=group.rules,
                loop=RuleScheduler(
                    _CLUSTER,
                    [replace(rule, interval=timedelta(seconds=1)) for rule in group.rules],
                    router(),  # each group asks as of moments of its own
                    renderer,
                ),
            )
            for file in files
            for group in file.groups
            if group.rules
        }

    @property
    def is_behind(self) -> bool:
        """Whether a rule was blind at one of the last evaluations of its group."""
        return any(
            one.ours.startswith(_BLIND)
            for group in self.groups.values()
            for some in group.differences
            for one in some
        )

    async def follow(self, lasts: timedelta) -> None:
        """Evaluate with Prometheus for so long."""
        until = time.monotonic() + lasts.total_seconds()
        async with aiohttp.ClientSession() as session:
            while time.monotonic() < until:
                theirs = await self._theirs(session)
                await asyncio.gather(*(self._evaluate(self.groups[key], one) for key, one in theirs.items()))
                await asyncio.sleep(_POLL)

    async def _theirs(self, session: aiohttp.ClientSession) -> Mapping[tuple[str, str], Mapping[str, Any]]:
        try:
            async with session.get(f"{self._url}/api/v1/rules?type=alert") as answer:
                body = await answer.json()
        except aiohttp.ClientError:
            return {}
        found = {(one["file"].rpartition("/")[2], one["name"]): one for one in body["data"]["groups"]}
        return {key: one for key, one in found.items() if key in self.groups}

    async def _evaluate(self, group: FollowedGroup, theirs: Mapping[str, Any]) -> None:
        moment = _moment(theirs, group)
        if moment is None or (group.at is not None and moment <= group.at + group.interval / 2):
            return
        while (
            group.at is not None and moment - group.at > 1.5 * group.interval
        ):  # those that this loop slept through
            group.at += group.interval
            await group.loop.run_cycle(group.at)
        cycle = await group.loop.run_cycle(moment)
        group.at = moment
        group.evaluations += 1
        by_rule: dict[str, list[Alert]] = {rule.id: [] for rule in group.rules}
        for alert in cycle.standing:
            by_rule[alert.rule].append(alert)
        found: list[Difference] = []
        group.alerts = group.held = 0
        for rule, one in zip(group.rules, theirs["rules"], strict=True):
            assert rule.name == one["name"]
            group.alerts += len(one["alerts"])
            if (reason := cycle.blind.get(rule.id)) and one["health"] == "ok":
                found.append(Difference(rule.id, (), f"{_BLIND}{reason}", "ok"))
                continue
            ours = {tuple(sorted(alert.labels.items())): alert for alert in by_rule[rule.id]}
            them = {tuple(sorted(alert["labels"].items())): alert for alert in one["alerts"]}
            for labels in sorted(ours.keys() | them.keys()):
                mine, yours = ours.get(labels), them.get(labels)
                if yours is None and mine is not None and mine.unseen_since is not None:
                    group.held += 1
                    continue
                shown, wanted = _shown(mine), _shown_theirs(yours, but=OWN if group.is_own else ())
                if shown != wanted:
                    found.append(Difference(rule.id, labels, shown, wanted, _cause(rule, mine, yours)))
        group.differences.append(tuple(found))


def _moment(theirs: Mapping[str, Any], group: FollowedGroup) -> datetime | None:
    """Return the moment as of which the group was last evaluated: on the grid on which its alerts became active.

    The grid follows from the group's name, so it stays. An alert that Prometheus restored at a restart is not on it.
    """
    said = datetime.fromisoformat(theirs["lastEvaluation"])
    if said.year < 2000:
        return None
    if group.grid is None:
        active = (alert["activeAt"] for rule in theirs["rules"] for alert in rule["alerts"])
        group.grid = next(map(datetime.fromisoformat, active), None)
    if group.grid is not None:
        said = group.grid + (said - group.grid) // group.interval * group.interval
    return said - timedelta(microseconds=said.microsecond % 1000)  # as it asks itself: of a whole millisecond


def _cause(rule: Rule, mine: Alert | None, yours: Mapping[str, Any] | None) -> DifferenceCause:
    """Return whether a restart explains it: Prometheus restores no `for` below its grace period of ten minutes, and
    what has waited longer waits ten minutes more; it never restores `keep_firing_for`. What a window with the hole
    does not return has ended for Prometheus, and for us it is not certain.
    """
    if mine is None or not mine.is_firing:
        return DifferenceCause.UNKNOWN
    waits_again = rule.timing.for_ > timedelta() and yours is not None and yours["state"] == "pending"
    keeps_firing = rule.timing.keep_firing_for > timedelta() and mine.life.inactive_since is not None
    keeps_firing |= isinstance(rule.query, PromQLQuery) and rule.query.window > timedelta()
    is_forgotten = waits_again or (keeps_firing and yours is None)
    return DifferenceCause.FORGOTTEN if is_forgotten else DifferenceCause.UNKNOWN


def _shown(alert: Alert | None) -> str:
    if alert is None:
        return "none"
    return f"{alert.life.state} {dict(sorted(alert.annotations.items()))}"


def _shown_theirs(alert: Mapping[str, Any] | None, *, but: Collection[str]) -> str:
    if alert is None:
        return "none"
    annotations = {name: text for name, text in sorted(alert["annotations"].items()) if name not in but}
    return f"{alert['state']} {annotations}"
