"""Windows: quiet hours and maintenance. Automation waits in them or may do more; some plans of people wait. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from alerts.store import stored
from alerts.time_intervals import TimeInterval
from collectors.facts.name_patterns import fits_any
from collectors.facts.sentences import Sentence, as_code, listed, sentence
from commands.execution.plan import HeldBy, Plan, PlanState
from commands.execution.plan_gate import LETS_GO, GateVerdict
from commands.gates.budget import OF_AUTOMATION, Budget, BudgetScope


class InWindow(StrEnum):
    """What automation does in a window."""

    AS_USUAL = "as-usual"
    WAITS = "waits"
    MORE = "more"  # under the budget of the window instead of automation's own


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedWindow:
    """A recurring time of some clusters, and what is different in it. `people_wait_with`: patterns of commands."""

    interval: TimeInterval
    clusters: tuple[str, ...] = ("*",)
    automation: InWindow = InWindow.AS_USUAL
    people_wait_with: tuple[str, ...] = ()
    nodes: int | None = None  # of a pool that automation may have out of service in it
    per_hour: int | None = None
    mutes: str = ""  # which alerts do not notify in it, as it is written
    channel: str = ""  # where its begin and end are said

    @property
    def name(self) -> str:
        return self.interval.name

    def is_of(self, cluster: str) -> bool:
        return fits_any(cluster, self.clusters)

    def holds(self, plan: Plan, *, is_automation: bool) -> bool:
        """Whether the plan waits until the window ends. An undo never does."""
        if plan.undo_of or not self.is_of(plan.cluster):
            return False
        if is_automation:
            return self.automation is InWindow.WAITS
        return fits_any(plan.command, self.people_wait_with)

    @property
    def effects(self) -> tuple[Sentence, ...]:
        """What is different in it, for people."""
        found: list[Sentence] = []
        if self.automation is InWindow.WAITS:
            found.append(sentence("Automation waits."))
        elif self.automation is InWindow.MORE:
            found.append(sentence("Automation may do more."))
        if self.people_wait_with:
            found.append(sentence("Plans of {commands} wait.", commands=as_code(self.people_wait_with)))
        if self.mutes:
            found.append(sentence("Alerts with {matchers} do not notify.", matchers=as_code((self.mutes,))))
        return tuple(found)


def held_by_windows(
    windows: Iterable[PlannedWindow], plan: Plan, now: datetime, *, is_automation: bool
) -> GateVerdict:
    """Return what windows say of a plan now. One that has begun, or that somebody takes over its gates, goes on."""
    if plan.state is PlanState.RUNNING or plan.over_budget:
        return LETS_GO
    found = [
        one for one in windows if one.holds(plan, is_automation=is_automation) and one.interval.contains(now)
    ]
    if not found:
        return LETS_GO
    ends = [end for one in found if (end := one.interval.changes_after(now)) is not None]
    until = max(ends) if len(ends) == len(found) else None
    names = listed(sorted(one.name for one in found), "and")
    reason = (
        sentence("window {window} lasts until {until}", window=names, until=until)
        if until is not None
        else sentence("window {window} lasts for years", window=names)
    )
    return GateVerdict(
        reason=reason, until=until or datetime.max.replace(tzinfo=now.tzinfo), by=(HeldBy.WINDOW,)
    )


def budget_of_automation(windows: Iterable[PlannedWindow], cluster: str, now: datetime) -> Budget:
    """Return what automation may take out of a pool now: its own budget, or that of a window which lets it do more."""
    more = (one for one in windows if one.automation is InWindow.MORE and one.is_of(cluster))
    open_now = next((one for one in more if one.interval.contains(now)), None)
    if open_now is None:
        return OF_AUTOMATION
    return Budget(
        scope=BudgetScope.POOL, nodes=open_now.nodes, per_hour=open_now.per_hour, automation_only=True
    )


@stored("window_notices", "window", "at", over=lambda notice: notice.at)
@dataclass(frozen=True, slots=True, kw_only=True)
class WindowNotice:
    """What a channel reads of a window: that it begins, or has ended. The last one says whether it is open."""

    id: str
    window: str
    at: datetime
    has_begun: bool
    until: datetime | None = None
    effects: tuple[str, ...] = ()
    cluster: str = ""  # a window is of several


def announcement(window: PlannedWindow, last: WindowNotice | None, now: datetime) -> WindowNotice | None:
    """Return what is to be said of a window now, None if that was said. Downtime skips what began and ended in it."""
    has_begun = window.interval.contains(now)
    if has_begun == (last is not None and last.has_begun):
        return None
    return WindowNotice(
        id=f"{window.name}/{now.isoformat()}",
        window=window.name,
        at=now,
        has_begun=has_begun,
        until=window.interval.changes_after(now) if has_begun else None,
        effects=window.effects,
    )
