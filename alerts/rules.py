"""Rules as values: a query, its timing and the alert's template."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from functools import cached_property

from collectors.facts.queries import PromQLQuery, Query
from collectors.facts.subjects import WORDS


class Severity(StrEnum):
    """How urgent: critical needs a person now, warning within the shift, info never pages."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        return {"critical": 3, "warning": 2, "info": 1}[self]

    @classmethod
    def of(cls, text: str) -> "Severity":
        """Return the nearest severity: `page` and the like are critical; an empty or unknown one is a warning."""
        word = text.lower()
        if word in ("critical", "page", "high", "fatal", "emergency", "error"):
            return cls.CRITICAL
        return (
            cls.INFO
            if word in ("info", "information", "informational", "none", "low", "debug")
            else cls.WARNING
        )


class ResolveWhen(StrEnum):
    """What resolves an incident: its alerts resolve; they do and somebody has acknowledged it, or a proof was seen."""

    CLEARED = "cleared"
    ACKNOWLEDGED = "acknowledged"
    PROVEN = "proven"


class Proof(StrEnum):
    """What proves that a fault is over which time does not heal. A person's word always does."""

    REPAIRED = (
        "repaired"  # an action that relieves the alert was done after it began, and has checked what it did
    )
    # All GPUs of the node, after some of them were not or the node was rebooted.
    GPUS_ALLOCATABLE = "gpus-allocatable"
    NODE_REBOOTED = "node-rebooted"  # and is ready
    VOLUME_MOUNTED = "volume-mounted"  # a pod that waited for the volume runs
    METRIC = "metric"  # what the rule's `proof_expr` returns for the alert was 0, and no longer is
    ACCEPTED = "accepted"  # the node passed its tests after the fault; of a GPU's fault it always proves
    WORD = "word"  # nothing but a person's word


class ImpactScope(StrEnum):
    """Whom the condition of an alert concerns, and so what its card says of trainings."""

    SUBJECT = "subject"  # those that run on the subject: it affects them
    CLUSTER = "cluster"  # everybody: all trainings depend on the subject
    HOLDER = "holder"  # the one that holds the subject: nothing is broken
    BYSTANDERS = "bystanders"  # those that are only near it: nothing says that it affects them


class Recipient(StrEnum):
    """Who is notified of an alert besides the channels of its incident."""

    OWNER = "owner"  # of the training that it is about, directly, and their team in its channel


class Culprits(StrEnum):
    """Which pods of the alert's node its card names as what is probably behind it."""

    MEMORY = "memory"  # those that use the most memory
    CPU = "cpu"  # those that use the most CPUs
    TROUBLE = "trouble"  # those with a container that waits, as in a crash loop


class Consequence(StrEnum):
    """What a critical alert means for people's work, besides how urgent it is: the gravest leads its incident."""

    DANGER = "danger"  # work will be lost unless somebody does something
    LOSS = "loss"  # work is lost

    @property
    def rank(self) -> int:
        return {"danger": 1, "loss": 2}[self]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long a condition must hold before the alert fires, and how long the alert fires after it ends."""

    for_: timedelta = timedelta()  # `for`
    keep_firing_for: timedelta = timedelta()  # `keep_firing_for`


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertTemplate:
    """A rule's labels and annotations as Go templates; the other fields are read from our own files only."""

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    actions: tuple[str, ...] = ()  # command lines with {placeholders}
    remediation: str = ""  # the command line that may run by itself, with {placeholders}
    remediation_with: tuple[str, ...] = ()  # names of alerts: one of them has to fire for the same node
    runbook: str = ""  # a page of alerts/packs/runbooks
    resolve_when: ResolveWhen = ResolveWhen.CLEARED
    proof_severity: Severity = Severity.WARNING  # the lowest that needs a proof
    proof_query: PromQLQuery | None = None  # of the proof `metric`: not 0 for what has recovered
    impact: ImpactScope | None = None  # None: by the component that the alert is about
    worse_after: tuple[str, ...] = ()  # names of alerts: beside one of them this one is critical, and leads
    consequence: Consequence | None = None  # of its alerts that are critical
    notify: Recipient | None = None
    culprits: Culprits | None = None
    ladder: str = ""  # the same word on all rules of one fault, each for a graver degree of it


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLocation:
    """A location in a file; line and column count from 1."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """An alerting rule. `id` never changes: pack or file/group/name, with a number if the name repeats. That of a rule
    of a cluster's objects is cluster:namespace:object/group/name.
    """

    id: str
    name: str
    query: Query
    timing: Timing = Timing()
    template: AlertTemplate = AlertTemplate()
    interval: timedelta = timedelta(seconds=15)
    limit: int = 0  # maximum number of alerts; 0: no limit of its own
    location: FileLocation = FileLocation(file="")
    cluster: str = ""  # whose object it comes from: in force there only; empty for packs and files

    def is_in_force(self, cluster: str) -> bool:
        return self.cluster in ("", cluster)

    def is_named(self, word: str) -> bool:
        """Whether people mean it by this word: its id, with or without the cluster, or its name."""
        short = self.id.removeprefix(f"{self.cluster}:") if self.cluster else self.id
        return word in (self.name, self.id, short)


class RuleIndex(dict[str, Rule]):
    """Rules by id, which are also found by their names. It is not changed once a name was looked up."""

    @cached_property
    def by_name(self) -> Mapping[str, Rule]:
        """The first rule of each name."""
        return {rule.name: rule for rule in reversed(self.values())}


def named_rule(name: str, rules: Mapping[str, Rule]) -> Rule | None:
    """Return the first rule of this name. For many names let the rules be a RuleIndex."""
    index = rules if isinstance(rules, RuleIndex) else RuleIndex(rules)
    return index.by_name.get(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingRule:
    """A recording rule: listed, not evaluated."""

    name: str
    expr: str
    labels: Mapping[str, str] = field(default_factory=dict)
    location: FileLocation = FileLocation(file="")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleGroup:
    """A group of rules, in file order."""

    name: str
    file: str
    interval: timedelta | None
    rules: tuple[Rule, ...] = ()
    recording_rules: tuple[RecordingRule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """An error in a rule file: where it is, what is wrong and what to do."""

    location: FileLocation
    message: str

    def __str__(self) -> str:
        return f"{self.location}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbols:
    """What rule files may refer to: checks with their parameters, fields of subjects, and command lines."""

    checks: Mapping[str, Mapping[str, object]] = field(
        default_factory=dict
    )  # name -> its parameters' defaults
    runbooks: frozenset[str] = frozenset()  # the shipped pages
    subject_fields: frozenset[str] = frozenset(WORDS)
    check_action: Callable[[str], str | None] = lambda _line: None  # the error of a line, or None
    makes_plan: Callable[[str], bool] = lambda _line: (
        True
    )  # whether a line is one of a command that makes a plan
