"""Prometheus' text exposition format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = Mapping[str, str]


@dataclass(slots=True)
class Family:
    """One metric: `kind` is gauge, counter or histogram; a sample is (suffix, labels, value)."""

    name: str
    kind: str
    help: str
    samples: list[tuple[str, Labels, float]] = field(default_factory=list)

    def add(self, value: float, /, **labels: str) -> None:
        """Add a sample with these labels."""
        self.samples.append(("", labels, value))

    def put(self, labels: Labels, value: float, suffix: str = "") -> None:
        """Add a sample with labels that are not Python names or that families share."""
        self.samples.append((suffix, labels, value))


def gauge(name: str, text: str) -> Family:
    return Family(name, "gauge", text)


def counter(name: str, text: str) -> Family:
    return Family(name, "counter", text)


def escaped(value: str) -> str:
    if "\\" in value or '"' in value or "\n" in value:
        return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return value


def series(name: str, labels: Labels) -> str:
    """Return a sample's name and labels, in the given order."""
    if not labels:
        return name
    return name + "{" + ",".join([f'{key}="{escaped(value)}"' for key, value in labels.items()]) + "}"


def number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _lines(families: Iterable[Family]) -> Iterator[str]:
    for family in families:
        if not family.samples:
            continue
        yield f"# HELP {family.name} {family.help}"
        yield f"# TYPE {family.name} {family.kind}"
        for suffix, labels, value in family.samples:
            yield f"{series(family.name + suffix, labels)} {number(value)}"


def render(families: Iterable[Family]) -> str:
    """Return the text of one scrape. Families without samples are left out, as client libraries do."""
    return "\n".join([*_lines(families), ""])
