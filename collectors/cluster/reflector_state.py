"""The states and the timing of a reflector."""

from dataclasses import dataclass
from enum import StrEnum


class ReflectorState(StrEnum):
    STARTING = "starting"
    LISTING = "listing"
    WATCHING = "watching"
    WAITING = "waiting"  # after an error, before the next attempt
    FORBIDDEN = "forbidden"
    ABSENT = "absent"  # the cluster does not serve this kind


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectorTiming:
    """The timing of a reflector, in seconds, because timers take them."""

    watch: float = 40
    grace: float = 10  # a watch that has not ended this long after `watch` counts as dead
    first_wait: float = 0.2
    longest_wait: float = 30
    refused_wait: float = 60  # after 403 and 404: somebody must change something first
    page: int = 500
    rewind_check: float = 300  # how often the server's version is compared with the cached one
