"""This file has small looks that several nouns share: finding a node, naming an age, saying what was meant."""

import difflib
from collections.abc import Iterable
from datetime import datetime

from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Node
from collectors.facts.clock import in_words
from commands.core.command import UnusableError


def known_name(name: str, names: Iterable[str], what: str) -> str:
    """The name if it is among them. Raises UnusableError that says what was meant."""
    known = sorted(names)
    if name in known:
        return name
    close = difflib.get_close_matches(name, known, n=3)
    meant = f" Did you mean {', '.join(f'`{one}`' for one in close)}?" if close else ""
    raise UnusableError(f"There is no {what} `{name}`.{meant}")


def node_named(name: str, inventory: Inventory) -> Node:
    return inventory.nodes[known_name(name, inventory.nodes, "node")]


def age(since: datetime | None, now: datetime) -> str:
    return in_words(now - since, parts=1) if since else "?"
