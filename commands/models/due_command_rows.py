"""Stored rows of command lines that automation runs at a given time."""

from dataclasses import dataclass
from datetime import datetime

from alerts.store import stored


@stored("agenda", "cluster", "at", in_plans=True)
@dataclass(frozen=True, slots=True, kw_only=True)
class DueCommand:
    """A command line that automation runs at a given time: an entry of the agenda."""

    id: str
    cluster: str
    at: datetime
    line: str
    actor: str  # the automation that runs it, such as automation:reclaim
    channel: str = ""  # where the card of its plan is posted; empty: in the default channel

    @property
    def request(self) -> str:
        """The id of the request that runs it: a different one for each time at which it is due."""
        return f"due/{self.id}/{self.at.isoformat()}"
