"""Lookups that several commands share: names with suggestions, nodes, ages."""

import difflib
from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Node
from collectors.facts.clock import humanize
from collectors.facts.sentences import as_code, sentence, word
from commands.core.command import UnknownNameError, UnusableError
from commands.core.context import CommandContext
from commands.core.other_names import without_others
from commands.execution.object_refs import ObjectReader, ObjectRef

FEW = 8  # names that are all shown
_LISTING = {
    "node": "node list --all",
    "training": "training list --all",
    "volume": "volume list",
    "pod": "pod list --all",
    "runbook": "runbook",
}


def known_name(name: str, names: Iterable[str], what: str) -> str:
    """Return the name if it is among them. Raises UnknownNameError with the closest, or with what there is."""
    known = sorted(set(names))
    if name in known:
        return name
    close = difflib.get_close_matches(name, without_others(name, known), n=3)
    raise UnknownNameError(_unknown(name, known, close, what), name=name, near=tuple(close))


def _unknown(name: str, known: Sequence[str], close: Sequence[str], kind: str) -> str:
    what = word(kind)
    if close:
        return sentence(
            "There is no {what} `{name}`. Did you mean {near}?", what=what, name=name, near=as_code(close)
        )
    if not known:
        return sentence("There is no {what} `{name}`, nor any other.", what=what, name=name)
    if len(known) <= FEW:
        return sentence(
            "There is no {what} `{name}`. There are {names}.", what=what, name=name, names=as_code(known)
        )
    if line := _LISTING.get(kind):
        return sentence(
            "There is no {what} `{name}`. `{line}` lists the {number} that there are.",
            what=what,
            name=name,
            line=line,
            number=len(known),
        )
    return sentence(
        "There is no {what} `{name}`. There are {number}, such as {names}.",
        what=what,
        name=name,
        number=len(known),
        names=as_code(known[:FEW]),
    )


def ambiguous(name: str, full_names: Iterable[str]) -> UnusableError:
    """Return the error for a name that several have."""
    return UnusableError(
        sentence(
            "`{name}` is ambiguous: {full_names}. Use the full name.",
            name=name,
            full_names=as_code(sorted(full_names)[:FEW]),
        )
    )


def node_named(name: str, inventory: Inventory) -> Node:
    return inventory.nodes[known_name(name, inventory.nodes, "node")]


async def read_node(name: str, context: CommandContext) -> Node:
    """Return a node as the API server has it: a plan by a late picture would be refused. Raises SourceError."""
    seen = node_named(name, context.cluster.inventory())
    if (reader := context.cluster.reader) is None:
        return seen
    if (node := await node_at(reader, name)) is None:
        raise UnusableError(sentence("{node} is no longer in the cluster.", node=name))
    return node


async def node_at(reader: ObjectReader, name: str) -> Node | None:
    """Return the node as the API server has it, None for one that it does not have. Raises SourceError."""
    found = await reader.read(ObjectRef(api="v1", kind="Node", name=name))
    return None if found is None else msgspec.convert(found, Node)


def reader_of(context: CommandContext) -> ObjectReader:
    """Return what reads objects. Raises UnusableError without access to Kubernetes."""
    if context.cluster.reader is None:
        raise UnusableError(
            sentence("The settings give no access to Kubernetes for {cluster}.", cluster=context.cluster.name)
        )
    return context.cluster.reader


def age(since: datetime | None, now: datetime) -> str:
    return humanize(now - since, parts=1) if since else "?"
