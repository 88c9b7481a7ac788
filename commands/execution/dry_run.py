"""Dry run of a plan on the server, before it is shown for confirmation."""

import asyncio
from collections.abc import Sequence

from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence
from commands.execution.cluster_writer import ClusterWriter
from commands.execution.plan import Stage
from commands.execution.plan_journal import belongs
from commands.execution.step_outcomes import Outcome, Refused, Waiting
from commands.execution.steps import Step
from commands.execution.steps.step_kind import DryRun

# One after another: of a training with hundreds of equal Services only the first are checked.
MAX_STEPS = 60


class DryRunError(Exception):
    """Kubernetes would refuse a step. The text says which, and why."""


async def dry_run(stages: Sequence[Stage], writer: ClusterWriter) -> tuple[Waiting | Refused, ...]:
    """Return what steps would have to wait for now, and which of a stage apart would be refused.

    Raises DryRunError if another one would be refused, or all that such a stage changes.
    """
    run = DryRun(writer)
    waits: list[Waiting | Refused] = []
    for stage in stages:
        if stage.is_apart:
            waits += await _dry_run_apart(stage.steps[:MAX_STEPS], run)
            continue
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


async def _dry_run_apart(steps: Sequence[Step], run: DryRun) -> list[Waiting | Refused]:
    """Return what would be waited for or refused of steps of which a refused one stops only those of its objects."""
    found: list[Waiting | Refused] = []
    refused: set[int] = set()
    first = ""
    for number, step in enumerate(steps):
        if any(belongs(steps, number, one) for one in refused):
            refused.add(number)
            continue
        outcome = await _dry_run_one(step, run)
        if isinstance(outcome, Waiting):
            found.append(outcome)
        elif isinstance(outcome, Refused):
            refused.add(number)
            first = first or outcome.reason
            found.append(
                Refused(reason=sentence("{step} ({reason})", step=step.description, reason=outcome.reason))
            )
    if len(refused) == len(steps):
        raise DryRunError(first)
    return found


async def _dry_run_one(step: Step, run: DryRun) -> Outcome:
    try:
        return await step.dry_run(run)
    except SourceError as error:
        return Refused(
            reason=sentence(
                "Kubernetes would refuse to {step}: {error}",
                step=step.description,
                error=said_by(error),
            )
        )
