"""Inputs of an incident's card and thread replies besides the incident itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from alerts.rules import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentAction:
    """A plan run for the incident, as its card shows it."""

    plan: str
    line: str
    who: str
    who_name: str
    state: str  # the plan's; `unknown`: a step got no answer


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentContext:
    """What a card shows besides the incident itself."""

    rules: Mapping[str, Rule] = field(default_factory=dict)
    actions: tuple[IncidentAction, ...] = ()
    people: Mapping[str, str] = field(default_factory=dict)  # owner as named in the cluster -> chat user id
    links: Mapping[str, str] = field(default_factory=dict)  # name -> URL with {placeholders}
    runbooks: str = ""  # the URL to which a runbook's name is appended
    silenced_until: datetime | None = None
    is_silenced_until_over: bool = False  # then `silenced_until` is far away
    blind: str = ""  # why the incident cannot be seen at the moment


NO_CONTEXT = IncidentContext()
