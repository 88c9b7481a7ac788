"""Whom an incident concerns, as its card says it: the verb follows from what its rules say. Pure."""

from collections.abc import Sequence

from alerts.cards.headline import headline
from alerts.cards.incident_context import IncidentContext
from alerts.cards.text import Text, bold, code, joined, moment, person, text
from alerts.incidents.grouping import place_of, shared_subject
from alerts.incidents.incident import Impact, Incident
from alerts.rules import ImpactScope

SHOWN = 2  # trainings: a line on a phone


def concerned(incident: Incident, context: IncidentContext) -> Text:
    """Return the place, if the title does not name it, and the trainings with their owners, largest first."""
    subject = shared_subject(incident)
    place = place_of(subject) or incident.cluster
    where = text(bold("Where: "), code(place))
    who = _who(incident, context)
    if not who:
        return where
    is_in_title = all(word.casefold() in headline(incident).casefold() for word in place.split())
    return who if is_in_title else text(where, " · ", who)


def _who(incident: Incident, context: IncidentContext) -> Text:
    scopes = {member.scope for member in incident.standing or incident.members}
    is_open = incident.is_open
    affects = bold("Affects: ") if is_open else bold("Affected: ")
    if ImpactScope.CLUSTER in scopes:
        everybody = bold("Affects everybody: ") if is_open else bold("Affected everybody: ")
        ran = "trainings run in this cluster" if is_open else "trainings ran in this cluster"
        return text(everybody, f"{incident.dependants} {ran}")
    if found := _of(incident, ImpactScope.SUBJECT):
        if all(impact.is_on_gpu is not None for impact in found):
            return _by_gpu(found, context)
        return text(affects, _named(found, context))
    if found := _of(incident, ImpactScope.HOLDER):
        return text(bold("Held by: ") if is_open else bold("Was held by: "), _named(found, context))
    if found := _of(incident, ImpactScope.BYSTANDERS):
        named = [impact for impact in found if impact.is_named]
        if named == found:
            return text(bold("Named in the line: "), _named(named, context))
        line = text(bold("On this node: "), _named(found, context))
        return text(line, " · ", bold("Named in the line: "), _named(named, context)) if named else line
    subject = incident.subject
    if not (subject.node or subject.rack or subject.pod):
        return ()
    if scopes == {ImpactScope.BYSTANDERS}:
        return text(bold("On this node: "), "no known training")
    return text(affects, "no known training")


def _by_gpu(found: Sequence[Impact], context: IncidentContext) -> Text:
    """Return who uses the GPUs that the alerts are about, as their series say, and who is only on their node."""
    users = [impact for impact in found if impact.is_on_gpu]
    near = [impact for impact in found if not impact.is_on_gpu]
    parts = [text(bold("On GPU: "), _named(users, context))] if users else []
    parts += [text(bold("On this node: "), _named(near, context))] if near else []
    return joined(" · ", parts)


def _of(incident: Incident, scope: ImpactScope) -> list[Impact]:
    return [impact for impact in incident.impacts if impact.scope is scope]


def _named(impacts: Sequence[Impact], context: IncidentContext) -> Text:
    """Return the trainings: those that died first, then as they come."""
    ordered = sorted(impacts, key=lambda impact: impact.failed_at is None)
    shown = joined("; ", (_impact(impact, context) for impact in ordered[:SHOWN]))
    return text(shown, f" and {len(impacts) - SHOWN} more" if len(impacts) > SHOWN else "")


def _impact(impact: Impact, context: IncidentContext) -> Text:
    """One training, short enough for a line on a phone."""
    amount = f"{impact.gpus:g} GPUs, " if impact.gpus else ""
    owner = person(context.people.get(impact.owner, ""), impact.owner) if impact.owner else "owner unknown"
    died = text(", died ", moment(impact.failed_at)) if impact.failed_at else ()
    return text(code(impact.shown), f" {amount}", owner, died)
