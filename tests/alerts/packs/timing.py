"""The timing of the shipped log and check rules: how long they wait and how far back they look."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from collectors.facts.clock import duration
from tests.support.quick_yaml import from_yaml

_FILE = Path(__file__).with_name("timing.yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseTiming:
    """`holds`: how long a condition lasts before its alert fires. `window`: the age of the oldest line that counts."""

    holds: timedelta = timedelta()
    window: timedelta = timedelta()


def _read() -> dict[str, CaseTiming]:
    tree: dict[str, dict[str, Any]] = from_yaml(_FILE.read_text(encoding="utf-8"))
    return {
        name: CaseTiming(**{what: duration(text) for what, text in times.items()})
        for name, times in tree.items()
    }


TIMING = _read()
