"""This file has what a look can give: samples that were seen, or the reason why nothing could be."""

from dataclasses import dataclass, field
from datetime import datetime

from collectors.facts.labels import Labels


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One element of an answer. `texts` go with it (a log line, a reason) and are never part of its identity."""

    labels: Labels
    value: float
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A look that worked, and whole. No samples: the condition holds nowhere.

    `present` is the answer to the rule's presence query (`presence`), None when it has none. An alert whose
    subject is not among them was not watched: it is blind alone.
    """

    source: str
    at: datetime
    samples: tuple[Sample, ...]
    present: tuple[Labels, ...] | None = field(default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blind:
    """A look that failed, or was not whole. It says nothing about the cluster, so it resolves nothing.

    `is_lasting`: looking again at the same moment would fail again, because nothing was recorded then, say.
    """

    source: str
    at: datetime
    reason: str
    is_lasting: bool = False


QueryResult = Seen | Blind


class SourceError(Exception):
    """A look failed. The text says what, where and what to do; never a token, never a raw body.

    `temporary` tells whether the same look may work later without anybody's help.
    """

    def __init__(self, text: str, *, temporary: bool = True, status: int | None = None) -> None:
        super().__init__(text)
        self.temporary = temporary
        self.status = status  # the HTTP status, where there was one
