"""Checks of what Yardmaster itself relies on: sources and rules that are blind, and a clock step."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from collectors.check import CheckInput, ClusterCheck
from collectors.facts.labels import Labels
from collectors.facts.results import Sample
from collectors.facts.sentences import sentence


@partial(
    ClusterCheck,
    name="source-blind",
    summary="a source does not answer, or only partially",
    needs={"sources"},
)
def blind_sources(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each blind source: for how many seconds, and the reason."""
    return [
        Sample(
            labels=Labels({"component": state.source}),
            value=state.blind_for.total_seconds(),
            texts=(state.reason,) if state.reason else (),
        )
        for state in inputs.sources
        if state.blind_for is not None
    ]


@partial(
    ClusterCheck,
    name="rule-blind",
    summary="a rule's query gets no complete result, although its source is healthy",
    needs={"sources"},
)
def blind_rules(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each rule that is blind although its source is healthy."""
    return [
        Sample(labels=Labels({"component": "yardmaster", "rule": rule}), value=1, texts=(reason,))
        for state in inputs.sources
        if state.blind_for is None
        for rule, reason in state.rules.items()
    ]


@partial(
    ClusterCheck,
    name="clock-set",
    summary="the wall clock of Yardmaster's machine was set by more than 5 minutes",
    needs=set(),
)
def clock_set(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample after a clock step of more than 5 minutes: its seconds."""
    if (step := inputs.clock_step) is None:
        return []
    direction = "forward" if step.by > timedelta() else "back"
    was = step.at - step.by
    text = sentence("from {was:%Y-%m-%d %H:%M:%S} to {at:%Y-%m-%d %H:%M:%S} UTC", was=was, at=step.at)
    labels = Labels({"component": "yardmaster", "direction": direction})
    return [Sample(labels=labels, value=round(abs(step.by.total_seconds())), texts=(text,))]


CHECKS = (clock_set, blind_sources, blind_rules)
