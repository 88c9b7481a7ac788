"""Stored rows of what was known of a node."""

from dataclasses import dataclass
from datetime import datetime

from alerts.store import stored


@stored("node_evidence", "cluster", "node", "plan", "incident", over=lambda evidence: evidence.at)
@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEvidence:
    """A file of what was known of a node at a time: before a plan touched it, or when somebody asked."""

    id: str
    cluster: str
    node: str
    at: datetime
    text: str  # redacted
    plan: str = ""
    incident: str = ""
