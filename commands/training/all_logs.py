"""Log lines of all ranks of a training, grouped by what each says first: most of thousands of ranks say the same."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from alerts.cards.message import Attachment, Block, Context, Message, Preformatted, Table
from alerts.cards.text import bold, text
from alerts.rules import Rule
from collectors.facts.redaction import Redactor
from collectors.facts.sentences import counted, sentence
from collectors.logs.line_patterns import pattern_of
from collectors.trainings.training import Rank, Training
from commands.core.command import UnusableError
from commands.core.context import CommandContext
from commands.core.pod_lines import MAX_LOG, TimedLine
from commands.training.failure_finding import rank_name
from commands.training.failure_signs import SignWeight, sign_of_output
from commands.training.rank_lines import lines_of_rank, ranks_of

MOST_RANKS = 64  # that are read
AT_ONCE = 8
READ_WITHIN = timedelta(seconds=20)
MOST_GROUPS = 20
NAMED = 6  # ranks of a group
_SHOWN = 160  # characters of a line
_MAX_FILE = 256 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidFirst:
    """Ranks that say the same first. `line` is that of the first of them."""

    line: TimedLine
    ranks: tuple[str, ...]


async def all_logs(
    training: Training, context: CommandContext, *, tail: int, since: timedelta | None, errors: bool
) -> Message:
    """Return what each rank says first, those that say the same together. Raises UnusableError if none has lines."""
    ranks = ranks_of(training)
    read = ranks[:MOST_RANKS]
    redact = Redactor(context.defaults.redact, limit=MAX_LOG)
    limit = asyncio.Semaphore(AT_ONCE)

    async def one(rank: Rank) -> Sequence[TimedLine]:
        async with limit:
            return await lines_of_rank(
                training, rank, context.cluster, redact=redact, now=context.now, tail=tail, since=since
            )

    try:
        async with asyncio.timeout(READ_WITHIN.total_seconds()):
            found = await asyncio.gather(*map(one, read))
    except TimeoutError as error:
        raise UnusableError(
            counted(
                "The log of {count} rank was not read in time: name it with `--rank`.",
                "The logs of {count} ranks were not read in time: name one with `--rank`.",
                count=len(read),
            )
        ) from error
    output = dict(zip(map(rank_name, read), found, strict=True))
    if errors:
        output = {name: errors_in(name, lines, context.rules) for name, lines in output.items()}
    groups = said_first(output)
    if not groups:
        raise UnusableError(
            sentence("No rank of {training} has printed an error.", training=training.shown)
            if errors and any(found)
            else sentence("There is no log of any rank of {training}.", training=training.shown)
        )
    return _message(
        training,
        groups,
        output,
        silent=len(read) - sum(map(bool, output.values())),
        more=len(ranks) - len(read),
    )


def errors_in(rank: str, lines: Sequence[TimedLine], rules: Mapping[str, Rule]) -> tuple[TimedLine, ...]:
    """Return the lines about an error: the rank's own ones, and where it has none its echoes of others."""
    signs = [(line, sign) for line in lines if (sign := sign_of_output(rank, line, rules)) is not None]
    own = tuple(line for line, sign in signs if sign.weight is SignWeight.OWN)
    return own or tuple(line for line, _ in signs)


def said_first(output: Mapping[str, Sequence[TimedLine]]) -> tuple[SaidFirst, ...]:
    """Return the first lines, the earliest first. Ranks whose first lines differ in numbers only are together."""
    by_pattern: dict[str, list[tuple[TimedLine, str]]] = {}
    for name, lines in output.items():
        if lines:
            by_pattern.setdefault(pattern_of(lines[0].text).label, []).append((lines[0], name))
    groups = (sorted(group, key=lambda one: (one[0].at, one[1])) for group in by_pattern.values())
    said = [SaidFirst(line=group[0][0], ranks=tuple(name for _, name in group)) for group in groups]
    return tuple(sorted(said, key=lambda one: one.line.at))


def _message(
    training: Training,
    groups: Sequence[SaidFirst],
    output: Mapping[str, Sequence[TimedLine]],
    *,
    silent: int,
    more: int,
) -> Message:
    rows = tuple(
        (f"{one.line.at:%H:%M:%S}", str(len(one.ranks)), _names(one.ranks), one.line.text[:_SHOWN])
        for one in groups[:MOST_GROUPS]
    )
    first = groups[0].ranks[0]
    blocks: list[Block] = [
        Table(heading=("first", "ranks", "which", "says"), rows=rows, more=max(0, len(groups) - MOST_GROUPS)),
        Preformatted(lines=tuple(f"{line.at:%H:%M:%S} {line.text}" for line in output[first][-12:])),
        Context(text=text(sentence("These are lines of {rank}, which was the first.", rank=first))),
    ]
    if silent:
        said = counted("{count} rank has no lines.", "{count} ranks have no lines.", count=silent)
        blocks.append(Context(text=text(said)))
    if more:
        said = counted("{count} more rank was not read.", "{count} more ranks were not read.", count=more)
        blocks.append(Context(text=text(said)))
    whole = "\n".join(
        f"{name} {line.at:%H:%M:%S} {line.text}" for name, lines in output.items() for line in lines
    )
    return Message(
        title=text(sentence("{training}: what its ranks say first", training=bold(training.shown))),
        blocks=tuple(blocks),
        attachments=(Attachment(name=f"{training.name}.log", content=whole[-_MAX_FILE:]),),
    )


def _names(ranks: Sequence[str]) -> str:
    shown = ", ".join(ranks[:NAMED])
    return f"{shown}, …" if len(ranks) > NAMED else shown
