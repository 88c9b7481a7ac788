"""Requests: a command line, the actor behind it, and where it came from."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from commands.core.secrets_in_lines import line_without_secrets
from commands.plans.plan import Origin


class ActorKind(StrEnum):
    PERSON = "person"
    AUTOMATION = "automation"  # remediation, schedule:<id>, lease
    TOKEN = "token"  # a sender with an API token


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """The sender of a command line. `id` is stable (a Slack user id, an automation's name); `teams` are current."""

    id: str
    name: str
    kind: ActorKind = ActorKind.PERSON
    teams: frozenset[str] = frozenset()
    is_guest: bool = False  # a guest, a member of another workspace or a deactivated account: gets no answer
    address: str = ""  # how to reach an automation or token; empty for people


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file uploaded with a line."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A typed line or a pressed button. `id` is set by the sender and stays the same across redeliveries."""

    id: str
    line: str
    actor: Actor
    at: datetime
    origin: Origin = field(default_factory=Origin)
    uploads: tuple[Upload, ...] = ()
    is_resumed: bool = False  # an earlier process began it, and ended before it was answered

    def __post_init__(self) -> None:
        object.__setattr__(self, "line", line_without_secrets(self.line))
