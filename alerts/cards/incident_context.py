"""This file has what an incident's card and lines show beside the incident itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from alerts.rules import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentAction:
    """A plan done for the incident, as its card names it."""

    plan: str
    line: str
    who: str
    who_name: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentContext:
    """What a card shows beside the incident itself."""

    rules: Mapping[str, Rule] = field(default_factory=dict)
    actions: tuple[IncidentAction, ...] = ()
    people: Mapping[str, str] = field(default_factory=dict)  # an owner as the cluster names them -> chat id
    links: Mapping[str, str] = field(default_factory=dict)  # name -> address with {placeholders}
    runbooks: str = ""  # the address that a runbook's name is appended to
    silenced_until: datetime | None = None
    blind: str = ""  # why we cannot see it at the moment


NO_CONTEXT = IncidentContext()
