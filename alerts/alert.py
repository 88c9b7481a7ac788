"""The alert: identified by its labels, with its subject, life and rendered annotations."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from alerts.lifecycle import AlertLife, AlertState
from alerts.rules import Severity
from alerts.store import stored
from collectors.facts.labels import AlertKey, Labels
from collectors.facts.subjects import Subject


@stored(
    "alerts",
    "cluster",
    "rule",
    renamed={"state": "life.state"},
    over=lambda alert: alert.life.resolved_at,
    floats=lambda alert: (alert.value,),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One alert. `labels` come from the query and the rule only; none of them holds a measured value."""

    cluster: str
    rule: str  # Rule.id, or for a received alert `received/` and its name
    labels: Labels
    own_subject: Subject  # from the labels alone: decides grouping and does not change with the cluster
    subject: Subject  # completed from the topology: decides suggested actions and permissions
    life: AlertLife
    value: float
    annotations: Mapping[str, str] = field(default_factory=dict)  # rendered
    texts: tuple[str, ...] = ()  # texts of the sample: a log line, a reason
    is_on_node: bool = False  # its node was in the cluster when the alert was active
    # Since when its target has had no readable data; the alert keeps its state.
    unseen_since: datetime | None = None
    ended_reason: str = ""  # why it resolved, if not because its condition ended
    # From a sender, which says when it is over: none of our rules is evaluated for it.
    is_received: bool = False
    ends_at: datetime | None = None  # of a received alert: when it is over, unless it is sent again
    generator_url: str = ""  # of a received alert: where its sender shows what it is about
    twin: str = ""  # of a received alert: the id that the alert of our own rule with its name and labels has

    def restated(self, by: timedelta) -> "Alert":
        """Return the same alert after a clock step of so much."""
        return replace(
            self, life=self.life.restated(by), unseen_since=self.unseen_since and self.unseen_since + by
        )

    @property
    def name(self) -> str:
        return self.labels.get("alertname", "")

    @property
    def key(self) -> AlertKey:
        return self.labels.key

    @property
    def words(self) -> Mapping[str, str]:
        """What routes and inhibition match: its labels, and the fields of its subject that no label is named like."""
        return {**self.subject.words(), **self.labels}

    @property
    def id(self) -> str:
        """The alert's key in the store."""
        return f"{self.cluster}/{self.rule}/{self.key}"

    @property
    def severity(self) -> Severity:
        return Severity.of(self.labels.get("severity", ""))

    @property
    def is_firing(self) -> bool:
        return self.life.state is AlertState.FIRING
