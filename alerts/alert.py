"""This file has the alert: labels for identity, a subject for meaning, a life, and its words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from alerts.lifecycle import AlertLife, AlertState
from alerts.rules import Severity
from collectors.facts.labels import AlertKey, Labels
from collectors.facts.subjects import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One alert. `labels` are exactly what the query and the rule gave; none of them holds a measured value."""

    cluster: str
    rule: str  # Rule.id, or the sender's name for a received alert
    labels: Labels
    own_subject: Subject  # what the labels alone say: decides folding, and does not move with the cluster
    subject: Subject  # the same, completed from the topology: decides offers and permission
    life: AlertLife
    value: float
    annotations: Mapping[str, str] = field(default_factory=dict)  # rendered
    texts: tuple[str, ...] = ()  # words that came with the sample: a log line, a reason
    is_on_node: bool = False  # its node was one of the cluster's when it breached
    unseen_since: datetime | None = None  # what it speaks of is not watched: it stands, and nobody knows
    ended_reason: str = ""  # why it clears, where it is not that all is well

    @property
    def name(self) -> str:
        return self.labels.get("alertname", "")

    @property
    def key(self) -> AlertKey:
        return self.labels.key

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
