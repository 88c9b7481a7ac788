"""XID errors of the kernel: the number, address and class that a line reports, and lines that report none."""

import json
import re
from pathlib import Path
from typing import Any

from alerts.rendering import RuleRenderer
from alerts.rules import Severity
from benchmarks.quality.measure import Measure
from benchmarks.row import Goal, Peer, Row
from collectors.facts.labels import Labels
from collectors.facts.patterns import compile_pattern
from collectors.facts.queries import LogQuery
from collectors.facts.results import Sample
from collectors.facts.topology import Topology
from collectors.facts.xid_catalogue import xid_of
from tests.alerts.packs.shipped import shipped_rules
from tests.support.xid_lines import xid_line

# The buckets of NVIDIA's list that mean that the GPU cannot continue as it is.
_FATAL = frozenset(
    {
        "CHECK_MECHANICALS",
        "RESET_GPU",
        "RESTART_BM",
        "RESTART_VM",
        "UNEXPECTED_ERR_REPORT_ISSUE",
        "UPDATE_SWFW",
        "WORKFLOW_NVLINK5_ERR",
        "WORKFLOW_NVLINK_ERR",
        "WORKFLOW_XID_48",
    }
)
_GOOD_NEWS = frozenset({162})  # a capability is back: NVIDIA's list gives it the bucket of its loss
_GREEDY = re.compile(r"Xid.*?([0-9A-Fa-f:]{7,}).*?([0-9]+)|Xid[^0-9]*([0-9]+)")


async def run(file: Path) -> tuple[Row, ...]:
    lines = _lines(file)
    true = [line for line in lines if line["xid"] is not None]
    decoys = [line["line"] for line in lines if line["xid"] is None]
    fatal = [line["line"] for line in true if line["severity"] == "FATAL" and line["xid"] not in _GOOD_NEWS]
    harmless = [line["line"] for line in true if line["severity"] != "FATAL"]
    return (
        Row(
            id="gpu_kmsg",
            measure=f"of {len(true)} XID lines, number, address and class exact",
            value=sum(_is_exact(line) for line in true),
            peer=Peer(name="the first number after `Xid`", value=sum(_by_search(line) for line in true)),
            goal=Goal(limit=len(true), of_value=True, at_least=True),
        ),
        Row(
            id="gpu_kmsg",
            measure=f"of {len(decoys)} other lines, taken for an XID",
            value=sum(xid_line(line) is not None for line in decoys),
            peer=Peer(
                name="the first number after `Xid`", value=sum(bool(_GREEDY.search(line)) for line in decoys)
            ),
            goal=Goal(limit=0, of_value=True),
        ),
        Row(
            id="gpu_kmsg",
            measure=f"of {len(fatal)} lines that NVIDIA calls fatal, critical on the card",
            value=sum(_severity(line) is Severity.CRITICAL for line in fatal),
            goal=Goal(limit=len(fatal), of_value=True, at_least=True),
        ),
        Row(
            id="gpu_kmsg",
            measure=f"of {len(harmless)} others, critical on the card",
            value=sum(_severity(line) is Severity.CRITICAL for line in harmless),
        ),
    )


def _severity(text: str) -> Severity | None:
    """Return the severity of the line's card, as the shipped rule gives it."""
    rule = shipped_rules()["GPUXIDLogged"]
    query = rule.query
    assert isinstance(query, LogQuery)
    assert query.extract
    match = compile_pattern(query.extract).search(text)
    if match is None:
        return None
    named = {name: value or "" for name, value in match.groupdict("").items()}
    renderer = RuleRenderer(lambda: Topology(cluster="lab"), clean=lambda words: words)
    labels = renderer.labels(rule, Sample(labels=Labels({**named, "node": "gpu-a01"}), value=1))
    return Severity(labels["severity"])


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _is_exact(line: dict[str, Any]) -> bool:
    found = xid_line(line["line"])
    if found is None:
        return False
    bucket = xid_of(found.number).bucket
    ours = (found.number, found.pci, bucket, "FATAL" if bucket in _FATAL else "NONFATAL")
    return ours == (line["xid"], line["pci"], line["action"], line["severity"])


def _by_search(line: dict[str, Any]) -> bool:
    """Whether the first number after `Xid` and the first address are the line's. It knows no classes."""
    found = _GREEDY.search(line["line"])
    return found is not None and (found[2], found[1]) == (str(line["xid"]), line["pci"])


MEASURE = Measure(id="gpu_kmsg", title="XID errors in kernel lines", file="gpu_kmsg/xid_lines.jsonl", run=run)
