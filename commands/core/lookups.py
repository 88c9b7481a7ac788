"""Lookups that several commands share: names with suggestions, nodes, ages."""

import difflib
from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Node
from collectors.facts.clock import humanize
from commands.core.command import UnknownNameError, UnusableError
from commands.core.context import CommandContext
from commands.execution.object_refs import ObjectRef

FEW = 8  # names that are all shown
_LISTING = {"node": "node list --all", "training": "training list --all", "runbook": "runbook"}


def known_name(name: str, names: Iterable[str], what: str) -> str:
    """Return the name if it is among them. Raises UnknownNameError with the closest, or with what there is."""
    known = sorted(set(names))
    if name in known:
        return name
    close = difflib.get_close_matches(name, known, n=3)
    raise UnknownNameError(_unknown(name, known, close, what), name=name, near=tuple(close))


def _unknown(name: str, known: Sequence[str], close: Sequence[str], what: str) -> str:
    if close:
        return f"There is no {what} `{name}`. Did you mean {_listed(close)}?"
    if not known:
        return f"There is no {what} `{name}`, and no other."
    if len(known) <= FEW:
        return f"There is no {what} `{name}`. There are {_listed(known)}."
    if line := _LISTING.get(what):
        return f"There is no {what} `{name}`. `{line}` lists the {len(known)} that there are."
    return f"There is no {what} `{name}`. There are {len(known)}, such as {_listed(known[:FEW])}."


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{one}`" for one in names)


def node_named(name: str, inventory: Inventory) -> Node:
    return inventory.nodes[known_name(name, inventory.nodes, "node")]


async def read_node(name: str, context: CommandContext) -> Node:
    """Return a node as the API server has it: a plan by a late picture would be refused. Raises SourceError."""
    seen = node_named(name, context.cluster.inventory())
    if (reader := context.cluster.reader) is None:
        return seen
    found = await reader.read(ObjectRef(api="v1", kind="Node", name=name))
    if found is None:
        raise UnusableError(f"{name} is no longer in the cluster.")
    return msgspec.convert(found, Node)


def age(since: datetime | None, now: datetime) -> str:
    return humanize(now - since, parts=1) if since else "?"
