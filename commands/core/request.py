"""Requests: a command line, the actor behind it, and where it came from."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from commands.plans.plan import Origin


class ActorKind(StrEnum):
    PERSON = "person"
    AUTOMATION = "automation"  # remedy, schedule:<id>, lease
    TOKEN = "token"  # a sender with an API token


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Whoever a command line comes from. `id` is stable (Slack's user id, a robot's name); `teams` are as of now."""

    id: str
    name: str
    kind: ActorKind = ActorKind.PERSON
    teams: frozenset[str] = frozenset()
    is_guest: bool = False  # a guest, a stranger from another workspace, a deactivated account: gets nothing
    address: str = ""  # how a robot or token is reached back; empty for people


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file that came with a line."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A typed line or a pressed button. `id` is the sender's own, equal over redeliveries."""

    id: str
    line: str
    actor: Actor
    at: datetime
    origin: Origin = field(default_factory=Origin)
    uploads: tuple[Upload, ...] = ()
