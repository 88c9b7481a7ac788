"""Workloads that an incident concerns, as its card says it: the verb follows from what its rules say. Pure."""

from collections.abc import Mapping, Sequence

from alerts.cards.headline import headline
from alerts.cards.incident_context import IncidentContext
from alerts.cards.text import Text, bold, code, joined, person, text
from alerts.incidents.grouping import place_of, shared_subject
from alerts.incidents.incident import Impact, Incident
from alerts.incidents.twin import is_received
from alerts.rules import ImpactScope
from collectors.facts.sentences import Sentence, counted, listed, sentence

SHOWN = 2  # trainings: a line on a phone
NAMED = 8  # names of alerts that others sent
LONGEST_NAME = 256  # characters: Kubernetes has none that is longer
_OBJECTS = ("volume", "training", "workload", "service")  # what an alert without a node may be about


def concerned(incident: Incident, context: IncidentContext) -> Text:
    """Return the place, if the title does not name it, and the trainings with their owners, largest first."""
    subject = shared_subject(incident)
    place = place_of(subject) or incident.cluster
    who = _who(incident, context)
    if names := received_names(incident):  # their sentences may name nothing
        object_ = next(filter(None, map(subject.words().get, _OBJECTS)), "")
        about = place if subject.node or subject.pod or not object_ else object_
        label = bold("Alert: ") if len(names) == 1 else bold("Alerts: ")
        shown = joined(", ", [*map(_name, names[:NAMED]), *([text("…")] if len(names) > NAMED else [])])
        return joined(
            " · ", [text(bold("Where: "), _name(about)), text(label, shown), *([who] if who else [])]
        )
    where = text(bold("Where: "), code(place))
    if not who:
        return where
    is_in_title = all(word.casefold() in headline(incident).casefold() for word in place.split())
    return who if is_in_title else text(where, " · ", who)


def _name(of: str) -> Text:
    """Return a name as code. One without end would leave no room for what comes after it."""
    return text(code(of if len(of) <= LONGEST_NAME else f"{of[: LONGEST_NAME - 1]}…"))


def received_names(incident: Incident) -> Sequence[str]:
    """Return the names of its alerts that other programs sent, each once."""
    return sorted({member.name for member in incident.members if is_received(member.rule)})


def _who(incident: Incident, context: IncidentContext) -> Text:
    scopes = {member.scope for member in incident.standing or incident.members}
    is_open = incident.is_open
    affects = bold("Affects: ") if is_open else bold("Affected: ")
    if ImpactScope.CLUSTER in scopes:
        everybody = bold("Affects everybody: ") if is_open else bold("Affected everybody: ")
        return text(everybody, _in_cluster(incident.dependants, is_open=is_open))
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
    return text(listed((impact_text(impact, context.people) for impact in ordered), ";", most=SHOWN))


def _in_cluster(trainings: int, *, is_open: bool) -> Sentence:
    if is_open:
        return counted(
            "{count} training runs in this cluster", "{count} trainings run in this cluster", count=trainings
        )
    return counted(
        "{count} training ran in this cluster", "{count} trainings ran in this cluster", count=trainings
    )


def impact_text(impact: Impact, people: Mapping[str, str]) -> Sentence:
    """One training, short enough for a line on a phone."""
    owner = person(people.get(impact.owner, ""), impact.owner) if impact.owner else sentence("owner unknown")
    said = sentence("`{training}` {owner}", training=impact.shown, owner=owner)
    if impact.gpus:
        said = counted(
            "`{training}` {count:g} GPU, {owner}",
            "`{training}` {count:g} GPUs, {owner}",
            training=impact.shown,
            count=impact.gpus,
            owner=owner,
        )
    return sentence("{training}, died {at}", training=said, at=impact.failed_at) if impact.failed_at else said
