"""The incidents that a command is about: the open ones, the one that it names, and whether the sender may change it."""

from collections.abc import Sequence

from alerts.incidents.grouping import place_of
from alerts.incidents.incident import Incident
from alerts.parents.parent_incident import ParentIncident
from alerts.store import StoreSnapshot
from collectors.facts.sentences import listed, sentence
from commands.core.command import DeniedError, UnusableError
from commands.core.context import CommandContext
from commands.core.own_namespaces import has_all

SHOWN = 25


async def incident_named(name: str, snapshot: StoreSnapshot, context: CommandContext) -> Incident:
    """Return the incident with that id, or the only open incident in which an alert of that name fires.

    Raises UnusableError when there is none, or when there are several.
    """
    if (found := await snapshot.rows(Incident).get(name.lower())) is not None:
        return found
    live = await snapshot.rows(Incident).find(cluster=context.cluster.name, state="open")
    matches = [one for one in live if any(member.name == name for member in one.firing)]
    if len(matches) > 1:
        named = listed(
            sentence("`{incident}` ({place})", incident=one.id, place=place_of(one.subject))
            for one in matches[:SHOWN]
        )
        raise UnusableError(
            sentence(
                "`{name}` fires in several incidents; choose one: {incidents}.", name=name, incidents=named
            )
        )
    if not matches:
        raise UnusableError(
            sentence("There is no open incident `{name}`. `incident list` shows the open ones.", name=name)
        )
    return matches[0]


def check_changeable(command: str, incident: Incident | ParentIncident, context: CommandContext) -> None:
    """Raise DeniedError if the actor may not change it, UnusableError if it is over."""
    check_namespace(command, incident, context)
    if not incident.is_open:
        raise UnusableError(sentence("Incident `{incident}` is already resolved.", incident=incident.id))


async def open_incidents(context: CommandContext) -> Sequence[Incident]:
    async with context.store.read() as snapshot:
        return await snapshot.rows(Incident).find(cluster=context.cluster.name, state="open")


def check_namespace(command: str, incident: Incident | ParentIncident, context: CommandContext) -> None:
    """Raise DeniedError if the incident is outside the actor's namespaces; what is in none needs all of them."""
    subject = incident.subject
    namespace = subject.namespace or subject.training.partition("/")[0]
    if namespace:
        if (denied := context.refusal(command, namespace)) is not None:
            raise DeniedError(denied)
    elif not has_all(context.granted(command)):
        raise DeniedError(
            sentence(
                "Incident `{incident}` concerns {place}, and with `{command}` your team may "
                "change incidents of its namespaces only.",
                incident=incident.id,
                place=place_of(subject) or sentence("the cluster"),
                command=command,
            )
        )
