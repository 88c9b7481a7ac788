"""Findings: what a diagnosis of a source or a channel sees, and what mends it."""

from dataclasses import dataclass
from enum import StrEnum


class FindingLevel(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARNING = "warning"  # part of it cannot be seen, and may not be meant to
    BROKEN = "broken"  # what the settings ask for does not work


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding. Both texts are whole sentences or clauses for people; `mend` is empty when nothing is to be done.

    `lines` are to be copied as they are, such as those of a configuration file that `mend` names.
    """

    level: FindingLevel
    text: str
    mend: str = ""
    lines: tuple[str, ...] = ()


def ok(text: str) -> Finding:
    return Finding(level=FindingLevel.OK, text=text)


def warning(text: str, mend: str, lines: tuple[str, ...] = ()) -> Finding:
    return Finding(level=FindingLevel.WARNING, text=text, mend=mend, lines=lines)


def broken(text: str, mend: str) -> Finding:
    return Finding(level=FindingLevel.BROKEN, text=text, mend=mend)
