"""Names beside a mistyped one: which it may be meant to be, and which name something else."""

import re
from collections.abc import Iterable

_NUMBER = re.compile(r"\d+", re.ASCII)


def without_others(typed: str, names: Iterable[str]) -> list[str]:
    """Return the names without those that differ from what was typed in their numbers only.

    `gpu-77` is not `gpu-07`: it is another machine, or one that is gone. `gpu-7` may well be.
    """
    return [name for name in names if not _differs_in_numbers_only(typed.lower(), name.lower())]


def _differs_in_numbers_only(typed: str, name: str) -> bool:
    numbers = [[int(one) for one in _NUMBER.findall(of)] for of in (typed, name)]
    return numbers[0] != numbers[1] and _NUMBER.sub("0", typed) == _NUMBER.sub("0", name)
