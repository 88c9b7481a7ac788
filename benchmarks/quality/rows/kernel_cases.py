"""Lines of the kernel and of NVIDIA's fabric manager from the tests of gpud: faults in its words, and others."""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.quality.measure import Measure
from benchmarks.row import Goal, Row
from collectors.facts.clock import SystemClock
from collectors.facts.queries import LogQuery
from collectors.facts.results import Seen
from demo.lookalikes.elasticsearch.lookalike import ElasticsearchLookalike
from tests.alerts.packs.shipped import shipped_rules
from tests.recorded.shipped_lines import Line, shipped, source_of

_TIMES = 6  # each line: a rule may count
_YES = ("expected", "want", "match", "expectedMatch", "shouldMatch")
_NAMES = ("wantEventName", "wantName", "wantEvent", "expectedEvent", "expectedXid", "expectedSXid")
_UNITS = {"accelerator/nvidia/fabric-manager": "nvidia-fabricmanager"}  # the others are the kernel's


async def run(file: Path) -> tuple[Row, ...]:
    cases = _cases(file)
    faults = {case["line"] for case in cases if _is_fault(case["expect"])}
    others = {case["line"] for case in cases} - faults
    units = {case["line"]: _UNITS.get(case["component"], "kernel") for case in cases}
    seen = await _seen(sorted(units), units)
    return (
        Row(
            id="gpu_kmsg/cases",
            measure=f"of {len(faults)} different lines that gpud calls a fault, seen by a rule",
            value=len(faults & seen),
            goal=Goal(limit=round(0.98 * len(faults)), of_value=True, at_least=True),
        ),
        Row(
            id="gpu_kmsg/cases",
            measure=f"of {len(others)} others, of which some are faults to another program, seen by a rule",
            value=len(others & seen),
        ),
    )


def _cases(file: Path) -> list[dict[str, Any]]:
    cases = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [case for case in cases if case["line"].strip()]


def _is_fault(expect: Mapping[str, Any]) -> bool:
    return any(expect.get(name) is True for name in _YES) or any(expect.get(name) for name in _NAMES)


async def _seen(lines: Sequence[str], units: Mapping[str, str]) -> frozenset[str]:
    """Return the lines for which a rule on lines of its own fires, each on a node of its own."""
    now = SystemClock().now().replace(microsecond=0)
    written = [
        Line(at=now - timedelta(seconds=20 + number), node=f"case-{place}", unit=units[text], text=text)
        for place, text in enumerate(lines)
        for number in range(_TIMES)
    ]
    found = set[str]()
    async with ElasticsearchLookalike.running() as elastic, source_of(elastic.url) as logs:
        await shipped(elastic.url, "Filebeat", written)
        for rule in shipped_rules().values():
            query = rule.query
            if not isinstance(query, LogQuery) or query.novel or query.times_usual:
                continue
            answer = await logs.query(query, at=now)
            if isinstance(answer, Seen):
                found |= {sample.labels.get("node", "") for sample in answer.samples}
    return frozenset(text for place, text in enumerate(lines) if f"case-{place}" in found)


MEASURE = Measure(id="gpu_kmsg/cases", title="lines that gpud knows", file="gpu_kmsg/cases.jsonl", run=run)
