"""Ownership: the names by which the cluster knows a person as an owner. Pure."""

from collections.abc import Mapping

from commands.core.request import Actor
from commands.gates.second_person import Ownership


def owner_names(actor: Actor, owners: Mapping[str, str]) -> frozenset[str]:
    """Return the owners, as named in the cluster, that are this person: those of the settings, and their own name."""
    return frozenset({actor.name, *(name for name, id in owners.items() if actor.is_one(id))})


def ownership(actor: Actor, owners: Mapping[str, str]) -> Ownership:
    """Return what is this person's own, or their team's. By the settings: whoever likes can take a name in a chat."""
    own = frozenset(name for name, id in owners.items() if actor.is_one(id))
    return Ownership(owners=own, teams=actor.teams)
