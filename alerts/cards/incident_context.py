"""Inputs of an incident's card and thread replies besides the incident itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase

from alerts.cards.cluster_now import ClusterNow
from alerts.cards.culprits import Culprit
from alerts.cards.message import Button
from alerts.cards.text import Text
from alerts.incidents.incident import Incident
from alerts.incidents.recurring_faults import Returned
from alerts.rules import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentAction:
    """A plan run for the incident, as its card shows it. `relieves`: alerts that its effect explains the end of."""

    plan: str
    line: str
    who: str
    who_name: str
    state: str  # the plan's; `unknown`: a step got no answer
    relieves: tuple[str, ...] = ()  # patterns of alert names
    disrupts: tuple[str, ...] = ()  # trainings
    confirmed_at: datetime | None = None

    def explains(self, incident: Incident) -> bool:
        """Whether its effect explains that the incident is over."""
        return any(
            fnmatchcase(member.name, pattern) for member in incident.members for pattern in self.relieves
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StillOpen:
    """What an action or a silence left behind, and the button that ends it. `first`: what to do before that."""

    text: Text
    button: Button
    first: Button | None = None

    @property
    def buttons(self) -> tuple[Button, ...]:
        return (self.button,) if self.first is None else (self.first, self.button)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """An owner who was asked for idle GPUs, and until when. `owner_id` may be empty."""

    owner: str
    owner_id: str
    until: datetime


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
    silence: str = ""  # the id of the silence that ends last
    blind: str = ""  # why the incident cannot be seen at the moment
    still_open: tuple[StillOpen, ...] = ()
    asked: tuple[Asked, ...] = ()
    cluster: ClusterNow = field(default_factory=ClusterNow)
    culprits: tuple[Culprit, ...] = ()
    returned: Returned | None = None  # what came back after it was repaired


NO_CONTEXT = IncidentContext()
