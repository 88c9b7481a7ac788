"""This file has actors: whoever a command line comes from."""

from dataclasses import dataclass
from enum import StrEnum


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
