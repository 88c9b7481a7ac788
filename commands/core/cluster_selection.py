"""This file finds out which cluster a line is for, and makes buttons say it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import click

from alerts.cards.message import Buttons, Message
from commands.core.command import AnyCommand, UnusableError
from commands.plans.plan import Origin
from commands.store import Unit

_END_OF_OPTIONS = re.compile(r"(?<=\s)--(?=\s|$)")


def cluster_named(words: Sequence[str]) -> tuple[list[str], str]:
    """The words without `--cluster NAME`, and that name, or nothing."""
    head = words[: words.index("--")] if "--" in words else words
    for number, word in enumerate(head):
        if word == "--cluster" and number + 1 < len(head):
            return [*words[:number], *words[number + 2 :]], words[number + 1]
        if word.startswith("--cluster="):
            return [*words[:number], *words[number + 1 :]], word.partition("=")[2]
    return list(words), ""


async def select_cluster(
    command: AnyCommand, words: Sequence[str], named: str, *, origin: Origin, unit: Unit
) -> str:
    """The cluster of the plan, incident, silence or claim that the line names; the named one; that of the incident
    under whose card it was said; or nothing.

    Raises UnusableError when a row is named with another cluster than its own.
    """
    if command.table:
        for word in _arguments(command, words):
            if (row := await getattr(unit, command.table).get(word.lower())) is not None:
                home: str = row.cluster
                if named and named != home:
                    raise UnusableError(f"`{word}` is of cluster {home}, not of {named}.")
                return home
    if not named and origin.incident:
        incident = await unit.incidents.get(origin.incident)
        return incident.cluster if incident else ""
    return named


def _arguments(command: AnyCommand, words: Sequence[str]) -> Iterator[str]:
    """The words that name something: no options, nor what they are set to."""
    options = [one for one in command.parameters if isinstance(one, click.Option)]
    set_to = {flag for one in options if not one.is_flag for flag in one.opts}
    before = ""
    for word in words[len(command.name.split()) :]:
        if not word.startswith("-") and before not in set_to:
            yield word
        before = word


def with_cluster(view: Message, cluster: str) -> Message:
    """The view with buttons whose lines name the cluster: where there are several, a node's name is not enough."""
    blocks = tuple(
        replace(block, buttons=tuple(replace(one, line=_placed(one.line, cluster)) for one in block.buttons))
        if isinstance(block, Buttons)
        else block
        for block in view.blocks
    )
    return replace(view, blocks=blocks)


def _placed(line: str, cluster: str) -> str:
    end = _END_OF_OPTIONS.search(line)
    head, rest = (line[: end.start()].rstrip(), f" {line[end.start() :]}") if end else (line, "")
    return line if " --cluster" in head else f"{head} --cluster {cluster}{rest}"
