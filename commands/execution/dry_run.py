"""Dry run of a plan on the server, before it is shown for confirmation."""

import asyncio
from collections.abc import Sequence

from collectors.facts.results import SourceError
from commands.execution.cluster_writer import ClusterWriter
from commands.execution.plan import Stage
from commands.execution.step_outcomes import Outcome, Refused, Waiting
from commands.execution.steps import Step
from commands.execution.steps.step_kind import DryRun

MAX_STEPS = (
    60  # one after the other: of a training with hundreds of equal Services only the first are checked
)


class DryRunError(Exception):
    """Kubernetes would refuse a step. The text says which, and why."""


async def dry_run(stages: Sequence[Stage], writer: ClusterWriter) -> tuple[Waiting, ...]:
    """Return what steps would have to wait for now. Raises DryRunError if one would be refused."""
    run = DryRun(writer)
    waits: list[Waiting] = []
    for stage in stages:
        checked = stage.steps[: MAX_STEPS * stage.at_once]
        for start in range(0, len(checked), stage.at_once):
            together = checked[start : start + stage.at_once]
            outcomes = await asyncio.gather(*(_dry_run_one(step, run) for step in together))
            for outcome in outcomes:
                if isinstance(outcome, Refused):
                    raise DryRunError(outcome.reason)
                if isinstance(outcome, Waiting):
                    waits.append(outcome)
    return tuple(waits)


async def _dry_run_one(step: Step, run: DryRun) -> Outcome:
    try:
        return await step.dry_run(run)
    except SourceError as error:
        return Refused(reason=f"Kubernetes would refuse to {step.description}: {error}")
