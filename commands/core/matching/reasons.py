"""Reasons in a line: `cordon gpu-b03, the fan is loud` gives one as a clause of its own, without saying `because`."""

import re
from collections.abc import Iterator, Sequence

MAX_CLAUSES = 5
_BETWEEN = re.compile(r"\s*[,，;；]\s*|\s+[-–—]+\s+")
_SENTENCES = re.compile(r"[.!](?=\s)|[。！]")
_MARK = re.compile(r"^(?:because(?:\s+of)?|reason(?:\s+is)?|因为|原因是?|理由是?)\s*[:：]?\s*", re.IGNORECASE)
_BECAUSE = re.compile(r"because|因为")


def split_reason(head: Sequence[str]) -> tuple[list[str], str]:
    """Cut `because …` off."""
    for at, word in enumerate(head):
        if at and (found := _BECAUSE.match(word.lower())):
            rest = [word[found.end() :], *head[at + 1 :]]
            return list(head[:at]), " ".join(rest).strip().removeprefix("of ").strip()
    return list(head), ""


def without_a_clause(words: Sequence[str]) -> Iterator[tuple[list[str], str]]:
    """Yield the line without one of its clauses, and that clause: the last first, never the first of all."""
    clauses = _apart(" ".join(words))
    if not 1 < len(clauses) <= MAX_CLAUSES:
        return
    for at in range(len(clauses) - 1, 0, -1):
        rest = " , ".join(clauses[:at] + clauses[at + 1 :])
        yield rest.split(), _MARK.sub("", clauses[at]).strip()


def clauses_of(line: str) -> list[str]:
    """Return the clauses and sentences of a line, each without the word that says that it is a reason."""
    head, reason = split_reason(line.split())
    sentences = [*_SENTENCES.split(" ".join(head)), reason]
    return [_MARK.sub("", clause).strip() for one in sentences for clause in _apart(one)]


def _apart(line: str) -> list[str]:
    return [one for one in _BETWEEN.split(line) if one.strip()]
