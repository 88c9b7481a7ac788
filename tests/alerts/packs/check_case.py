"""A case of a check rule: inputs, and the alerts that they fire."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from collectors.check import CheckInput, SourceState
from collectors.cluster.inventory import Inventory
from collectors.facts.clock import ClockStep
from collectors.facts.labels import Labels
from collectors.facts.missing_metrics import MissingMetrics
from collectors.facts.results import Blind, Sample
from collectors.trainings.training import Training
from tests.alerts.packs.expected import Fired
from tests.support.objects import NOW, inventory


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCase:
    rule: str
    description: str
    inputs: CheckInput
    fired: tuple[Fired, ...] = ()


def check_input(
    seen: Inventory | Blind | None = None,
    *,
    trainings: Sequence[Training] | Blind = (),
    configs: Mapping[str, Mapping[str, str]] | Blind | None = None,
    sources: Sequence[SourceState] = (),
    clock_step: ClockStep | None = None,
    metrics: Sequence[Sample] | Blind = (),
    logs: Sequence[Sequence[Sample]] | Blind = (),
    missing: Sequence[MissingMetrics] | Blind = (),
    standing: Sequence[Labels] = (),
) -> CheckInput:
    return CheckInput(
        at=NOW,
        inventory=inventory() if seen is None else seen,
        trainings=trainings,
        configs={} if configs is None else configs,
        sources=sources,
        clock_step=clock_step,
        metrics=metrics,
        logs=logs,
        missing=missing,
        standing=dict.fromkeys(standing, True),
    )
