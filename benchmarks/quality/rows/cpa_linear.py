"""The replicas of cluster-proportional-autoscaler, as in the tables of its own unit tests."""

import json
from pathlib import Path
from typing import Any

from benchmarks.quality.measure import Measure
from benchmarks.row import Goal, Peer, Row
from collectors.facts.proportional import read_linear

_SKIPPED = ("source", "formula")  # the other keys are tables


async def run(file: Path) -> tuple[Row, ...]:
    answers = _answers(file)
    agreed = sum(_ours(params, answer) == answer["replicas"] for params, answer in answers)
    by_the_readme = sum(_by_the_readme(params, answer) == answer["replicas"] for params, answer in answers)
    return (
        Row(
            id="capacity/cpa_linear",
            measure=f"of {len(answers)} rows of the upstream tests, replicas exact",
            value=agreed,
            peer=Peer(name="the README's formula, nodes that are not cordoned", value=by_the_readme),
            goal=Goal(limit=len(answers), of_value=True, at_least=True),
        ),
    )


def _answers(file: Path) -> list[tuple[dict[str, Any], dict[str, float]]]:
    """Return the parameters, and the columns by their names, of each row of each table."""
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return [
        (table["params"], dict(zip(table["columns"], row, strict=True)))
        for name, table in content.items()
        if name not in _SKIPPED
        for row in table["rows"]
    ]


def _ours(params: dict[str, Any], answer: dict[str, float]) -> int:
    linear = read_linear(json.dumps(params))
    return linear.replicas(**_counted(answer, all_nodes=linear.counts_unschedulable))


def _by_the_readme(params: dict[str, Any], answer: dict[str, float]) -> float:
    """Return max(ceil(cores / coresPerReplica), ceil(nodes / nodesPerReplica)), bounded by `min` and `max`."""
    counted = _counted(answer, all_nodes=False)
    wanted: float = max(
        -(-counted[of] // params[key])
        for of, key in (("cores", "coresPerReplica"), ("nodes", "nodesPerReplica"))
        if key in params
    )
    return float(max(params["min"], min(params["max"], wanted)))


def _counted(answer: dict[str, float], *, all_nodes: bool) -> dict[str, Any]:
    """Return the nodes and cores of a row that count; a table without nodes is about cores alone."""
    which = "" if all_nodes or "schedulable_nodes" not in answer else "schedulable_"
    return {kind: answer.get(f"{which}{kind}", 0) for kind in ("nodes", "cores")}


MEASURE = Measure(
    id="capacity/cpa_linear",
    title="replicas of cluster-proportional-autoscaler",
    file="capacity/cpa_linear.json",
    run=run,
)
