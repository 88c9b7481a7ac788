"""This file has requests: a line, who wrote it, and where."""

from dataclasses import dataclass, field
from datetime import datetime

from collectors.facts.people import Actor
from commands.desk import Upload
from commands.plans import Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A typed line or a pressed button. `id` is the sender's own, equal over redeliveries."""

    id: str
    line: str
    actor: Actor
    at: datetime
    origin: Origin = field(default_factory=Origin)
    uploads: tuple[Upload, ...] = ()
