"""Remediations: what a rule does about its alerts by itself, or would do, and what holds it back. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from alerts.alert import Alert
from alerts.store import stored
from collectors.facts.name_patterns import fits_any
from collectors.facts.sentences import listed, sentence


class RemediationState(StrEnum):
    HELD = "held"  # tried again for as long as its alert fires
    TRIAL = "trial"  # it would have run
    RUN = "run"
    NOTHING = "nothing"  # there was nothing to do
    REFUSED = "refused"
    STOPPED = "stopped"  # by a breaker
    PASSED = "passed"  # its alert was over before it could run


OPEN_REMEDIATION = frozenset({RemediationState.HELD})


@stored(
    "remediations",
    "cluster",
    "rule",
    "state",
    "at",
    over=lambda one: None if one.state in OPEN_REMEDIATION else one.at,
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Remediation:
    """What was done, or would have been done, about one alert since it fired."""

    id: str
    cluster: str
    rule: str  # Rule.id
    rule_name: str
    alert: str  # Alert.id
    incident: str
    summary: str  # of the alert
    line: str
    command: str
    node: str
    pool: str
    is_trial: bool
    since: datetime  # when the alert fired
    at: datetime  # when it came into its state
    state: RemediationState = RemediationState.HELD
    reason: str = ""  # why it is held, refused or stopped, or had nothing to do
    title: str = ""  # of its plan
    figures: tuple[str, ...] = ()  # of the budgets that it is under
    plan: str = ""
    breaker: str = ""  # that stopped it
    has_failed: bool = False  # its plan did
    takes_out: bool = (
        True  # its plan takes the node out of service; false: it disrupts the node while it runs
    )
    is_again: bool = False  # it was done for the same alert within the hour

    @property
    def is_over(self) -> bool:
        return self.state not in OPEN_REMEDIATION

    @property
    def has_acted(self) -> bool:
        return self.state in (RemediationState.TRIAL, RemediationState.RUN)

    @property
    def has_no_effect(self) -> bool:
        """Whether it failed, or the alert that it was done for fired again."""
        return self.has_failed or (self.is_again and self.state is not RemediationState.HELD)


def remediation_id(alert: Alert) -> str:
    """Return the id of what is done about an alert since it fired: each firing has one."""
    since = alert.life.fired_at or alert.life.since
    return f"{alert.id}/{since.isoformat()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """Where the settings let remediations run; elsewhere they are in trial. All are patterns."""

    rules: tuple[str, ...] = ()  # names or ids
    clusters: tuple[str, ...] = ("*",)
    pools: tuple[str, ...] = ("*",)

    def covers(self, one: Remediation) -> bool:
        return (
            (fits_any(one.rule_name, self.rules) or fits_any(one.rule, self.rules))
            and fits_any(one.cluster, self.clusters)
            and fits_any(one.pool, self.pools)
        )


def why_not_seen(alert: Alert, blind: Mapping[str, str]) -> str:
    """Return why what the remediation needs cannot be seen now; empty if it can. `blind`: source -> why."""
    if alert.unseen_since is not None:
        return sentence("what it is about cannot be seen now")
    return listed(
        (
            sentence("{source} cannot be seen: {why}", source=source, why=why)
            for source, why in sorted(blind.items())
        ),
        ";",
    )


def why_alone(alert: Alert, names: Collection[str], firing: Iterable[Alert]) -> str:
    """Return which second signal is missing, of which the rule wants one (`names`) for the same node; empty if none."""
    if not names or any(
        one.name in names and one.subject.node == alert.subject.node and one.unseen_since is None
        for one in firing
    ):
        return ""
    return sentence("no second signal yet: {alerts} does not fire", alerts=listed(sorted(names), "or"))
