"""The trend of a node's figures over its acceptances: `memory copy 1340 → 1338 → 1102 GB/s`. Pure."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from collectors.facts.sentences import Sentence, sentence
from commands.acceptance.acceptance import Acceptance

MOST_LINES = 4


def trend_lines(acceptances: Sequence[Acceptance]) -> list[Sentence]:
    """Return a line for each figure of the newest acceptance that was measured before: the medians of its GPUs."""
    ordered = sorted((one for one in acceptances if one.figures), key=lambda one: one.at)
    if len(ordered) < 2:
        return []
    courses: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for one in ordered:
        values: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        for figure in one.figures:
            values[figure.name, figure.unit].append(figure.value)
        for kind, measured in values.items():
            courses[kind].append(median(measured))
    newest = dict.fromkeys((figure.name, figure.unit) for figure in ordered[-1].figures)
    shown = [(kind, courses[kind]) for kind in newest if len(courses[kind]) > 1]
    return [
        sentence(
            "{name} {course} {unit}",
            name=name,
            course=" → ".join(f"{value:g}" for value in course),
            unit=unit,
        )
        for (name, unit), course in shown[:MOST_LINES]
    ]
