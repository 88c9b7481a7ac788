"""Spelling: which known word a mistyped one was meant to be. One that only looks alike is another word. Pure."""

from collections.abc import Collection

_LONG = 8  # characters of a word in which two may be wrong
_SHORTEST = 4  # characters of a word that may be mistyped at all


def meant_by(word: str, known: Collection[str]) -> str:
    """Return the known word that was probably meant; empty if none is near.

    `draining` is `drain`, and `cordn` is `cordon`, one sign away. `reboot` is not `runbook`: three are.
    """
    if len(word) < _SHORTEST or not word.isascii():
        return ""
    stem = next((word.removesuffix(end) for end in ("ing", "ed") if word.endswith(end)), "")
    if stem and stem in known:
        return stem
    allowed = 2 if len(word) >= _LONG else 1
    found = [
        (distance, other)
        for other in known
        if len(other) >= _SHORTEST
        and abs(len(other) - len(word)) <= allowed
        and (distance := edits(word, other)) <= allowed
    ]
    return min(found, default=(0, ""))[1]


def edits(one: str, other: str) -> int:
    """Return how many signs are added, left out, wrong or swapped with the next."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for at, sign in enumerate(one, 1):
        row = [at]
        for place, there in enumerate(other, 1):
            least = min(last[place] + 1, row[place - 1] + 1, last[place - 1] + (sign != there))
            if at > 1 and place > 1 and sign == other[place - 2] and one[at - 2] == there:
                least = min(least, before[place - 2] + 1)
            row.append(least)
        before, last = last, row
    return last[-1]
