"""Names beside a mistyped one: which it may be meant to be, and which name something else."""

import re
from collections.abc import Iterable

_NUMBER = re.compile(r"\d+", re.ASCII)


def without_others(typed: str, names: Iterable[str]) -> list[str]:
    """Return the names without those that differ from what was typed in their numbers only.

    `gpu-77` is not `gpu-07`: it is another machine, or one that is gone. `gpu-7` may well be.
    """
    letters, numbers = _parts(typed)

    def is_other(name: str) -> bool:
        around, others = _parts(name)
        return around == letters and others != numbers

    return [name for name in names if not is_other(name)]


def _parts(name: str) -> tuple[list[str], list[int]]:
    """Return what stands around the numbers of a name, and these."""
    bare = name.lower()
    return _NUMBER.split(bare), [int(one) for one in _NUMBER.findall(bare)]
