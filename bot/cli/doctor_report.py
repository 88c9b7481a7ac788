"""The doctor's report in a terminal: each cause once, and what is fine in one line for each part."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter

import click

from bot.doctor.examination import PartFinding
from collectors.facts.findings import FindingLevel
from collectors.facts.sentences import counted

_COLORS = {FindingLevel.OK: "green", FindingLevel.WARNING: "yellow", FindingLevel.BROKEN: "red"}


def report_lines(found: Sequence[PartFinding], *, every: bool = False) -> Iterator[str]:
    """Yield the lines of the report; with `every` one for each finding and each rule."""
    causes = {one.finding.cause for one in found if _is_first(one)}
    for part, group in groupby(found, key=attrgetter("part")):
        findings = list(group)
        yield click.style(part, bold=True)
        yield from _all(findings) if every else _summary(findings, causes)
    count = sum(one.is_broken for one in found)
    broken = counted(
        "{count} of {findings} findings is broken.",
        "{count} of {findings} findings are broken.",
        count=count,
        findings=len(found),
    )
    yield broken if count else "Nothing is broken."


def _all(findings: Sequence[PartFinding]) -> Iterator[str]:
    for one in findings:
        yield from _lines(one)


def _summary(findings: Sequence[PartFinding], causes: set[str]) -> Iterator[str]:
    """Yield what is not fine, but for causes that stand among what to do first; then what is fine, and the rules."""
    fine: list[str] = []
    for one in findings:
        if one.finding.level is FindingLevel.OK:
            fine += [] if one.rule else [one.finding.text]
        elif _is_first(one) or one.finding.cause not in causes:
            yield from _lines(one)
    if fine:
        yield _line(FindingLevel.OK, "; ".join(fine))
    if unseeing := [one.rule for one in findings if one.rule and one.finding.health.is_unseeing]:
        yield f"{'':10}blind or late: {', '.join(unseeing)} (`--all` says why of each)"


def _is_first(one: PartFinding) -> bool:
    """Whether it is one of the things to do first for the rules."""
    return bool(one.finding.cause) and not one.finding.rules


def _lines(one: PartFinding) -> Iterator[str]:
    yield _line(one.finding.level, one.finding.text)
    if one.rule and one.finding.cause:
        return  # what fixes it is said once, for all rules of the same cause
    if one.finding.fix:
        yield f"{'':10}To fix it: {one.finding.fix}"
    yield from (f"{'':12}{line}" for line in one.finding.lines)


def _line(level: FindingLevel, text: str) -> str:
    return f"  {click.style(f'{level.value:<8}', fg=_COLORS[level])}{text}"
