"""The recorded pages of real exporters, and what a scrape makes of them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[1] / "recordings"
_SAMPLE = re.compile(r"(?P<name>[\w:]+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')

RECORDED_NODE = "recorded-node"  # the only one in the recordings


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSample:
    """One line of a page, before a scrape adds the labels of its target."""

    metric: str
    labels: Mapping[str, str]
    value: float


@cache
def page(exporter: str) -> tuple[PageSample, ...]:
    """Return the recorded page of an exporter."""
    return tuple(_samples((_FOLDER / f"{exporter}.prom").read_text("utf-8")))


def _samples(text: str) -> Iterator[PageSample]:
    for line in text.splitlines():
        if line and not line.startswith("#"):
            found = _SAMPLE.fullmatch(line)
            assert found is not None, line
            labels = dict(_LABEL.findall(found["labels"] or ""))
            yield PageSample(metric=found["name"], labels=labels, value=float(found["value"]))


def scraped(labels: Mapping[str, str], target: Mapping[str, str], *, honours: bool = False) -> dict[str, str]:
    """Return the labels of a series as Prometheus stores it: the target's own win unless labels are honoured."""
    if honours:
        return {**target, **{name: value for name, value in labels.items() if value}}
    kept = {
        (f"exported_{name}" if name in target else name): value for name, value in labels.items() if value
    }
    return {**kept, **target}
