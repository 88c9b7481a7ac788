"""The cluster that a command line is for, and buttons that name it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import click

from alerts.cards.message import Buttons, Message
from alerts.incidents.incident import Incident
from alerts.parents.parent_incident import ParentIncident
from alerts.store import StoreSnapshot
from collectors.facts.sentences import sentence
from commands.core.command import AnyCommand, UnusableError
from commands.execution.plan import Origin

_END_OF_OPTIONS = re.compile(r"(?<=\s)--(?=\s|$)")


def cluster_named(words: Sequence[str]) -> tuple[list[str], str]:
    """Return the words without `--cluster NAME`, and that name or ''."""
    head = words[: words.index("--")] if "--" in words else words
    for number, word in enumerate(head):
        if word == "--cluster" and number + 1 < len(head):
            return [*words[:number], *words[number + 2 :]], words[number + 1]
        if word.startswith("--cluster="):
            return [*words[:number], *words[number + 1 :]], word.partition("=")[2]
    return list(words), ""


async def select_cluster(
    command: AnyCommand, words: Sequence[str], named: str, *, origin: Origin, snapshot: StoreSnapshot
) -> str:
    """Return the cluster of the row (plan, incident, request) that the line names, else the named
    one, else that of the incident in whose thread the line was written, else ''.

    Raises UnusableError when a row is named together with a cluster that is not its own.
    """
    if command.table:
        for word in _arguments(command, words):
            if (cluster := await _cluster_of(word.lower(), command.table, snapshot)) is not None:
                if named and named != cluster:
                    raise UnusableError(
                        sentence(
                            "`{word}` belongs to cluster {cluster}, not to {named}.",
                            word=word,
                            cluster=cluster,
                            named=named,
                        )
                    )
                return cluster
    if not named and origin.incident:
        return await cluster_of_incident(origin.incident, snapshot)
    return named


async def cluster_of_incident(id: str, snapshot: StoreSnapshot) -> str:
    """Return the cluster of an incident or a parent; empty if there is none."""
    return await _cluster_of(id, Incident, snapshot) or ""


async def _cluster_of(id: str, table: type[Any], snapshot: StoreSnapshot) -> str | None:
    """Return the cluster of the row with that id; where incidents are meant, it may be a parent's."""
    row = await snapshot.rows(table).get(id)
    if row is None and table is Incident:
        row = await snapshot.rows(ParentIncident).get(id)
    return row.cluster if row is not None else None


def _arguments(command: AnyCommand, words: Sequence[str]) -> Iterator[str]:
    """Yield the positional arguments: neither options nor their values."""
    options = [one for one in command.parameters if isinstance(one, click.Option)]
    takes_value = {flag for one in options if not one.is_flag for flag in one.opts}
    before = ""
    for word in words[len(command.name.split()) :]:
        if not word.startswith("-") and before not in takes_value:
            yield word
        before = word


def with_cluster(message: Message, cluster: str) -> Message:
    """Add the cluster to each button's line: with several clusters a node's name is not enough."""
    blocks = tuple(
        block.with_lines(lambda line: scoped(line, cluster)) if isinstance(block, Buttons) else block
        for block in message.blocks
    )
    return replace(message, blocks=blocks)


def scoped(line: str, cluster: str) -> str:
    """Return the line with the cluster, if it does not name one already."""
    end = _END_OF_OPTIONS.search(line)
    head, rest = (line[: end.start()].rstrip(), f" {line[end.start() :]}") if end else (line, "")
    return line if " --cluster" in head else f"{head} --cluster {cluster}{rest}"
