"""Texts that a test printed: their lines, names, words and numbers, whatever stands in them."""

import re
from math import isfinite

from collectors.facts.one_line import NAME, SENTENCE, one_line

MOST_READ = 1 << 20  # characters of an output
MOST_LINES = 20_000
GPUS_READ = 256
LARGEST = 1e9  # of a figure, in its unit
NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,12})?(?:e[+-]?[0-9]{1,3})?")
# As dash, bash and busybox say it: `/bin/sh: 3: dcgmi: not found`, `bash: line 3: dcgmi: command not found`.
_NOT_FOUND = re.compile(
    r"(?:\S{1,64}: )?(?:(?:line )?\d{1,6}: )?(?P<program>[\w./-]{1,64}): (?:command )?not found\s*"
)


def lines(text: str) -> list[str]:
    """Return the lines of an output, as many as are read. A terminal's carriage returns end lines, too."""
    return text[:MOST_READ].replace("\r", "\n").split("\n")[:MOST_LINES]


def is_cut(text: str) -> bool:
    """Whether more of the output was there than is read."""
    return len(text) > MOST_READ


def name(said: object) -> str:
    """Return a name from outside as one short line; empty if it is none."""
    return one_line(said, NAME) if isinstance(said, str) else ""


def words(said: object) -> str:
    """Return words from outside as one line; empty if they are none."""
    return one_line(said, SENTENCE) if isinstance(said, str) else ""


def figure(said: object) -> float | None:
    """Return a number that a figure may have; None for what is none, negative, or too large."""
    if isinstance(said, str):
        written = said.strip()
        if not NUMBER.fullmatch(written):
            return None
        value = float(written)
    elif isinstance(said, int | float) and not isinstance(said, bool):
        try:
            value = float(said)
        except OverflowError:
            return None
    else:
        return None
    return value if isfinite(value) and 0 <= value < LARGEST else None


def gpu_of(said: object) -> int | None:
    """Return the index of a GPU; None for what is none."""
    value = figure(said)
    return int(value) if value is not None and value == int(value) and value < GPUS_READ else None


def missing_program(text: str) -> str:
    """Return the program that a shell did not find; empty if it found all."""
    found = next((one for line in lines(text) if (one := _NOT_FOUND.fullmatch(line[:300]))), None)
    return name(found["program"]) if found is not None else ""
