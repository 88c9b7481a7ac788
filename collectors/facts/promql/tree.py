"""The parts of a PromQL expression: how it is composed, and where each part stands in the text."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from collectors.facts.promql.tokenizing import unquoted

_PLAIN = re.compile(r"[a-zA-Z_]\w*", re.ASCII)  # Prometheus 3 has labels like "k8s.pod.name", too


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """A part of an expression, from `start` to `end` of its text, and the parts that it is made of."""

    start: int
    end: int
    inner: tuple["Part", ...] = ()

    def walk(self) -> Iterator[tuple["Part", tuple["Part", ...]]]:
        """Yield this part and all in it in order, each with the calls and subqueries around it, outermost first."""
        waiting: list[tuple[Part, tuple[Part, ...]]] = [(self, ())]
        while waiting:
            node, around = waiting.pop()
            yield node, around
            if node.inner:
                around = (*around, node) if isinstance(node, Call | Subquery) else around
                waiting += [(one, around) for one in reversed(node.inner)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Number(Part):
    """A number; a duration is one of seconds."""

    value: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class String(Part):
    """A string, as an argument: what it says."""

    value: str


@dataclass(frozen=True, slots=True)
class LabelMatcher:
    """A matcher of a selector, as it is written: `label` without quotes, `value` with them."""

    label: str
    operator: str
    value: str

    def __str__(self) -> str:
        label = self.label if _PLAIN.fullmatch(self.label) else json.dumps(self.label)
        return f"{label}{self.operator}{self.value}"

    @property
    def text(self) -> str:
        """The value that it compares with."""
        return unquoted(self.value)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VectorSelector(Part):
    """A selector, with its range and its modifiers. `matched`: where its name and its matchers end.

    `metric` is empty where no matcher says the name. `range` is None for an instant vector.
    """

    metric: str
    matchers: tuple[LabelMatcher, ...] = ()
    matched: int
    range: timedelta | None = None
    offset: timedelta = timedelta()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subquery(Part):
    """What is evaluated again and again over a range."""

    range: timedelta
    offset: timedelta = timedelta()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Call(Part):
    """A function, or an aggregation, with its arguments. `grouping` is `by`, `without` or empty."""

    name: str
    is_aggregation: bool
    grouping: str = ""
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Binary(Part):
    """Two parts with an operator between them. `many`: the side (`left`, `right`) of which several match one, or empty.

    `included` are the labels that the samples of that side get from the other.
    """

    operator: str
    many: str = ""
    included: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Group(Part):
    """A part in parentheses, or after a sign."""

    sign: str = ""
