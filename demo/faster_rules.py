"""The shipped rules with shorter durations for the demo.

Nobody waits five minutes at a demo for a `for: 5m`, and a `[5m]` window would see an ended fault for as long.
Days are not scaled, because rules that compare with history need the whole of it.
"""

import re
from datetime import timedelta
from functools import partial
from importlib import resources
from pathlib import Path

from collectors.facts.clock import duration, format_duration

_SPAN = r"\d+(?:h|m|s)"
_BEGINS = (
    re.compile(rf"(?<=\[)({_SPAN})(?=[\]:])"),  # [5m] and [10m:30s]
    re.compile(rf"(?<=:)({_SPAN})(?=\])"),
    re.compile(rf"(?<=offset )({_SPAN})\b"),
    re.compile(rf"(?<=\bfor: )({_SPAN})\b"),
)
# How long an alert stands after its fault.
_ENDS = (re.compile(rf"(?<=\bkeep_firing_for: )({_SPAN})\b"),)
_COUNTS = (re.compile(rf"(?<=\bover: )({_SPAN})\b"),)  # of log lines
SHORTEST_WINDOW = duration("6s")  # at least two scrapes of the demo
# A line that is written once has to be in a count: on a busy machine it is shipped, refreshed and looked for late.
SHORTEST_COUNT = duration("10s")


def speed_up(text: str, factor: float, ends: float | None = None) -> str:
    """Return the rule file with its durations and windows multiplied by `factor`.

    Those for which an alert stands after its fault are multiplied by `ends`, if it is given.
    """
    after = factor if ends is None else ends
    for patterns, by, least in (
        (_BEGINS, factor, SHORTEST_WINDOW),
        (_ENDS, after, SHORTEST_WINDOW),
        (_COUNTS, after, SHORTEST_COUNT),
    ):
        for pattern in patterns:
            text = pattern.sub(partial(_shorter, factor=by, least=least), text)
    return text


def _shorter(found: re.Match[str], *, factor: float, least: timedelta) -> str:
    span = duration(found[1])
    short = max(span * factor, min(span, least))
    return format_duration(type(short)(seconds=round(short.total_seconds())))


def write_packs(folder: Path, factor: float, ends: float | None = None) -> list[Path]:
    """Write all shipped packs, with shorter durations, into `folder` and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for pack in resources.files("alerts.packs").iterdir():
        if pack.name.endswith(".yaml") and ".test." not in pack.name:
            path = folder / pack.name
            path.write_text(speed_up(pack.read_text(encoding="utf-8"), factor, ends), encoding="utf-8")
            paths.append(path)
    return sorted(paths)
