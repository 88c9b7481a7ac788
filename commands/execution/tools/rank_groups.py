"""The answers of the ranks of one plan, grouped: `63 of 64 wait in all_reduce, rank 17 in the data loader`. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from alerts.cards.message import Block, Paragraph, Preformatted
from alerts.cards.text import Text, bold, joined, markup, text
from collectors.facts.sentences import listed, sentence
from commands.execution.plan import Plan, StepRecord, StepState
from commands.execution.steps.exec import Exec

NAMED = 8  # ranks by name; of more there is a number
GROUPS = 6  # that are shown with their lines
_ERROR = "!"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankGroup:
    """Ranks that said the same, and the lines of the first of them. `is_error`: nothing was learned of them."""

    where: str
    ranks: tuple[str, ...]
    lines: tuple[str, ...] = ()
    is_error: bool = False


def rank_groups(said: Iterable[tuple[str, str]]) -> list[RankGroup]:
    """Return the ranks by what they said, the most first and those of which nothing was learned last."""
    found: dict[tuple[bool, str], tuple[list[str], tuple[str, ...]]] = {}
    for rank, outcome in said:
        where, *lines = outcome.splitlines() or [""]
        is_error = where.startswith(_ERROR)
        key = (is_error, where.removeprefix(_ERROR))
        found.setdefault(key, ([], tuple(lines)))[0].append(rank)
    groups = [
        RankGroup(where=where, ranks=tuple(ranks), lines=lines, is_error=is_error)
        for (is_error, where), (ranks, lines) in found.items()
    ]
    return sorted(groups, key=lambda one: (one.is_error, -len(one.ranks), one.where))


def group_blocks(plan: Plan, records: Sequence[StepRecord]) -> tuple[Block, ...]:
    """Return what the programs of a plan said, for its card; nothing for a plan that runs none."""
    said = [
        (
            step.rank or step.ref.name,
            record.outcome if record.state is StepState.DONE else f"{_ERROR}{record.outcome}",
        )
        for step, record in zip(plan.steps, records, strict=True)
        if isinstance(step, Exec) and record.state in (StepState.DONE, StepState.FAILED)
    ]
    if not said:
        return ()
    groups = rank_groups(said)
    lines = [_line(one, len(said)) for one in groups]
    stacks: list[Block] = [
        Preformatted(lines=(sentence("{rank}:", rank=one.ranks[0]), *one.lines))
        for one in groups[:GROUPS]
        if one.lines
    ]
    return (Paragraph(text=joined("\n", lines)), *stacks)


def _line(one: RankGroup, of: int) -> Text:
    ranks = listed(one.ranks) if len(one.ranks) <= NAMED else None
    number = bold(sentence("{number} of {of}", number=len(one.ranks), of=of))
    named = (
        sentence("{number} ({ranks}): {where}", number=number, ranks=ranks, where=one.where)
        if ranks
        else sentence("{number}: {where}", number=number, where=one.where)
    )
    return text(markup(named))
