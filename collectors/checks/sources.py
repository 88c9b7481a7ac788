"""This file has the checks of our own sight: which source does not answer, which rule cannot be asked."""

from collections.abc import Mapping, Sequence
from typing import Any

from collectors.checks.check import CheckInput, ClusterCheck
from collectors.facts.labels import Labels
from collectors.facts.results import Sample


def blind_sources(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """One sample for each source that does not answer, or not whole: for how many seconds, and why."""
    return [
        Sample(
            labels=Labels({"component": state.source}),
            value=state.blind_for.total_seconds(),
            texts=(state.reason,) if state.reason else (),
        )
        for state in inputs.sources
        if state.blind_for is not None
    ]


def blind_rules(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """One sample for each rule that cannot be answered though its source can."""
    return [
        Sample(labels=Labels({"component": "yardmaster", "rule": rule}), value=1, texts=(reason,))
        for state in inputs.sources
        if state.blind_for is None
        for rule, reason in state.rules.items()
    ]


CHECKS = (
    ClusterCheck(
        name="source-blind",
        summary="a source does not answer, or answers in part",
        needs=frozenset({"sources"}),
        run=blind_sources,
    ),
    ClusterCheck(
        name="rule-blind",
        summary="a rule's question is not answered whole, though its source is there",
        needs=frozenset({"sources"}),
        run=blind_rules,
    ),
)
