"""This file quickens the shipped rules for the demo: the same rules, with minutes and hours a tenth as long.

A person at a demo does not wait five minutes for a `for: 5m`, and a `[5m]` window would remember a mended fault
for as long. Days stay as they are: what is usual and what is new is a matter of history, not of patience.
"""

import re
from importlib import resources
from pathlib import Path

from collectors.facts.clock import duration, written

_SPAN = r"\d+(?:h|m|s)"
_PLACES = (
    re.compile(rf"(?<=\[)({_SPAN})(?=[\]:])"),  # [5m] and [10m:30s]
    re.compile(rf"(?<=:)({_SPAN})(?=\])"),
    re.compile(rf"(?<=offset )({_SPAN})\b"),
    re.compile(rf"(?<=\bfor: )({_SPAN})\b"),
    re.compile(rf"(?<=\bkeep_firing_for: )({_SPAN})\b"),
    re.compile(rf"(?<=\bover: )({_SPAN})\b"),
)
SHORTEST_WINDOW = duration("6s")  # two scrapes of the demo, at least


def sped_up(text: str, factor: float) -> str:
    """A rule file whose patience and windows are `factor` as long."""
    for place in _PLACES:
        text = place.sub(lambda found: _shorter(found[1], factor), text)
    return text


def _shorter(span: str, factor: float) -> str:
    short = max(duration(span) * factor, min(duration(span), SHORTEST_WINDOW))
    return written(type(short)(seconds=round(short.total_seconds())))


def write_packs(folder: Path, factor: float) -> list[Path]:
    """Write all shipped packs, quickened, into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for pack in resources.files("alerts.packs").iterdir():
        if pack.name.endswith(".yaml") and ".test." not in pack.name:
            path = folder / pack.name
            path.write_text(sped_up(pack.read_text(encoding="utf-8"), factor), encoding="utf-8")
            made.append(path)
    return sorted(made)
