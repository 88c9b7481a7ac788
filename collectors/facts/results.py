"""The result of a query: samples, or the reason why there are none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from collectors.facts.labels import Labels
from collectors.facts.one_line import MESSAGE, one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One element of a result. Its `texts` (a log line, a reason) are never part of its identity."""

    labels: Labels
    value: float
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The samples with the same labels over time: Unix times in seconds and values, oldest first."""

    labels: Labels
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One line of a log. `labels` are those that are known (node, pod, namespace, …).

    `text` is redacted, and is one line for people.
    """

    at: datetime
    text: str
    labels: Labels


LineLabels = Mapping[str, str | Sequence[str]]  # of which lines: a value, or several, by label


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePage:
    """Lines of a log between two times, the newest first. `after` asks for the next page; empty: there is none."""

    lines: tuple[LogLine, ...]
    after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The complete result of a query. Without samples, the condition holds nowhere.

    `present` is the result of the rule's presence query, None when it has none. An alert whose subject is not in it
    was not watched: only that alert is blind.

    `unread` are the labels of the samples that could not be read, as far as the labels could: an alert that agrees
    with one of them may still be active. Labels() agrees with every alert.
    """

    source: str
    at: datetime
    samples: tuple[Sample, ...]
    present: tuple[Labels, ...] | None = field(default=None)
    unread: tuple[Labels, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Blind:
    """A query that failed or was incomplete. It says nothing about the cluster, so it resolves nothing.

    `is_lasting`: the same query for the same moment would fail again, for example because nothing was recorded then.
    """

    source: str
    at: datetime
    reason: str
    is_lasting: bool = False


QueryResult = Seen | Blind


class SourceError(Exception):
    """A query failed. The text says what, where and what to do; it never contains a token or a raw body.

    It may repeat what a server said, so it is made one line here.

    `temporary`: the same query may succeed later without a change.
    """

    def __init__(self, text: str, *, temporary: bool = True, status: int | None = None) -> None:
        super().__init__(one_line(text, MESSAGE))
        self.temporary = temporary
        self.status = status  # the HTTP status, where there was one


class TooLargeError(SourceError):
    """The response exceeded the byte cap; a smaller request may succeed."""
