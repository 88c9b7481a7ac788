"""Stored rows of the audit log."""

from dataclasses import dataclass
from datetime import datetime

from alerts.store import stored
from collectors.facts.redaction import redacted

# What an entry says. A line: asked or refused; a plan: confirmed, held back, and its end; a breaker: opened, closed.
AUDITED = (
    "asked",
    "refused",
    "confirmed",
    "held",
    "trial",
    "done",
    "failed",
    "cancelled",
    "opened",
    "closed",
)


@stored("audit", "cluster", "actor", "plan", "at", append_only=True)
@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """An entry of the audit log: written before an action and again with its outcome, or once for a refusal."""

    id: str
    cluster: str
    at: datetime
    actor: str  # a person, or an automation
    actor_name: str
    line: str
    what: str  # one of AUDITED
    plan: str = ""
    text: str = ""
    price: str = ""  # what the plan puts at stake
    about: tuple[
        str, ...
    ] = ()  # names of what a plan concerns; a line that was asked or refused names it itself

    def __post_init__(self) -> None:
        object.__setattr__(self, "line", redacted(self.line))
        object.__setattr__(self, "text", redacted(self.text))
