"""This file has rules as values: a question, patience and words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from collectors.facts.queries import Query
from collectors.facts.subjects import WORDS


class Severity(StrEnum):
    """How urgent: critical, a human now; warning, the same shift; info, never pages."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        return {"critical": 3, "warning": 2, "info": 1}[self]

    @classmethod
    def of(cls, text: str) -> "Severity":
        """The nearest of ours: `page` and its like are critical, no or an unknown word is a warning."""
        word = text.lower()
        if word in ("critical", "page", "high", "fatal", "emergency", "error"):
            return cls.CRITICAL
        return (
            cls.INFO
            if word in ("info", "information", "informational", "none", "low", "debug")
            else cls.WARNING
        )


class ResolveWhen(StrEnum):
    """What resolves an incident: its alerts clearing, or an acknowledgement as well."""

    CLEARED = "cleared"
    ACKNOWLEDGED = "acknowledged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long a condition must hold before it fires, and how long a firing alert outlives it."""

    for_: timedelta = timedelta()  # `for`
    keep_firing_for: timedelta = timedelta()  # `keep_firing_for`


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertTemplate:
    """What a rule says. Values are Go templates, as in Prometheus; the rest is read from our own files only."""

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    actions: tuple[str, ...] = ()  # command lines with {placeholders}
    runbook: str = ""  # a page of docs/runbooks
    resolve_when: ResolveWhen = ResolveWhen.CLEARED


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLocation:
    """Where in a file something stands; both numbers count from 1."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """An alerting rule. `id` (pack or file/group/name, with a number when one name repeats) is its name for life."""

    id: str
    name: str
    query: Query
    timing: Timing = Timing()
    template: AlertTemplate = AlertTemplate()
    interval: timedelta = timedelta(seconds=15)
    limit: int = 0  # alerts at most; 0: no limit of its own
    location: FileLocation = FileLocation(file="")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingRule:
    """A recording rule: listed, not evaluated."""

    name: str
    expr: str
    labels: Mapping[str, str] = field(default_factory=dict)
    location: FileLocation = FileLocation(file="")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleGroup:
    """A group of rules, in the order of its file."""

    name: str
    file: str
    interval: timedelta | None
    rules: tuple[Rule, ...] = ()
    recording_rules: tuple[RecordingRule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """What is wrong in a rule file, where, and what to do."""

    location: FileLocation
    message: str

    def __str__(self) -> str:
        return f"{self.location}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbols:
    """What rule files may name: checks with their parameters, commands that may be offered, words of subjects."""

    checks: Mapping[str, frozenset[str]] = field(default_factory=dict)  # name -> the parameters it knows
    subject_fields: frozenset[str] = frozenset(WORDS)
    check_action: Callable[[str], str | None] = lambda _line: None  # the catalogue's word, or None
