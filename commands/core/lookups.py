"""Lookups that several commands share: names with suggestions, nodes, ages."""

import difflib
from collections.abc import Iterable
from datetime import datetime

import msgspec

from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Node
from collectors.facts.clock import humanize
from commands.core.command import UnknownNameError, UnusableError
from commands.core.context import CommandContext
from commands.execution.object_refs import ObjectRef


def known_name(name: str, names: Iterable[str], what: str) -> str:
    """Return the name if it is among them. Otherwise raises UnusableError with the closest matches."""
    known = sorted(names)
    if name in known:
        return name
    close = difflib.get_close_matches(name, known, n=3)
    suggestion = f" Did you mean {', '.join(f'`{one}`' for one in close)}?" if close else ""
    raise UnknownNameError(f"There is no {what} `{name}`.{suggestion}", name=name, near=tuple(close))


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
