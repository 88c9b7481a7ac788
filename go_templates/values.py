"""Values of templates as in Go: samples, times, maps, truth and names of types."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Value = Any  # any value in a template: str, bool, int, float, complex, None, and the types below


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateSample:
    """One element of the result of a `query` in a template."""

    labels: Mapping[str, str]
    value: float

    def field(self, name: str) -> Value:
        return {"Labels": Names(self.labels), "Value": self.value}[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertData:
    """The dot of an alert's template: .Labels, .ExternalLabels, .ExternalURL, .Value."""

    labels: "Names"
    external_labels: "Names"
    external_url: str
    value: float

    def field(self, name: str) -> Value:
        return {
            "Labels": self.labels,
            "ExternalLabels": self.external_labels,
            "ExternalURL": self.external_url,
            "Value": self.value,
        }[name]


class Names(dict[str, str]):
    """Go's map[string]string: a missing key gives the empty string."""


class Arguments(dict[str, Value]):
    """Go's map[string]interface{}, from the function `args`: a missing key gives no value."""


@dataclass(frozen=True, slots=True)
class Time:
    """Go's time.Time, in UTC; `nanoseconds` since 1970."""

    nanoseconds: int


@dataclass(frozen=True, slots=True)
class GoDuration:
    """Go's time.Duration, in nanoseconds."""

    nanoseconds: int

    @property
    def seconds(self) -> float:
        return self.nanoseconds / 1e9


@dataclass(frozen=True, slots=True)
class Missing:
    """The final argument of the first command in a pipeline: none, which is not the same as nil."""


MISSING = Missing()


def truth(value: Value) -> bool:
    """Whether `if` treats a value as true: not zero, not empty, not nil."""
    if isinstance(value, str | Mapping | Sequence):
        return len(value) > 0
    if isinstance(value, bool | int | float | complex):
        return value != 0
    return value is not None


def type_of(value: Value) -> str:
    """Return the Go type of a value, for error texts."""
    match value:
        case None:
            return "nil"
        case bool():
            return "bool"
        case str():
            return "string"
        case int():
            return "int"
        case float():
            return "float64"
        case complex():
            return "complex128"
        case Arguments():
            return "map[string]interface {}"
        case Mapping():
            return "map[string]string"
        case tuple():
            return "template.queryResult"
        case TemplateSample():
            return "*template.sample"
        case Time():
            return "*time.Time"
        case GoDuration():
            return "time.Duration"
        case _:
            return "struct"
