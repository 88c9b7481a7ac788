"""Requests: a command line, the actor behind it, and where it came from."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from collectors.facts.redaction import redacted
from commands.execution.plan import Origin


class ActorKind(StrEnum):
    PERSON = "person"
    AUTOMATION = "automation"  # remediation, schedule:<id>, lease
    TOKEN = "token"  # a sender with an API token


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """The sender of a command line. `id` is the id by which they came: a chat's user id, the name of a token or an
    automation. `person` is who they are, as rows name them, and `ids` are all ids of that person. `teams` are current.
    """

    id: str
    name: str
    kind: ActorKind = ActorKind.PERSON
    teams: frozenset[str] = frozenset()
    is_guest: bool = False  # a guest, a member of another workspace or a deactivated account: gets no answer
    address: str = ""  # how to reach an automation or token; empty for people
    person: str = ""  # not given: `id` is a person of its own
    ids: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not self.person:
            object.__setattr__(self, "person", self.id)

    def is_one(self, person: str) -> bool:
        """Whether a row that names this person means the actor."""
        return person == self.person or person in self.ids


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


_OWN_COMMAND = " -- "  # what follows is the command of a training, which needs its arguments as they are


def line_without_secrets(line: str) -> str:
    """Return the line without secrets, such as in a reason. A training's own command is redacted where it is shown."""
    ours, mark, own = line.partition(_OWN_COMMAND)
    return f"{redacted(ours)}{mark}{own}"
