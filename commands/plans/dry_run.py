"""This file rehearses a plan: every step as a dry run on the server, before anybody is asked to confirm."""

from collections.abc import Sequence

from collectors.facts.results import SourceError
from commands.plans.cluster_writer import ClusterWriter
from commands.plans.preconditions import StepFailedError, check
from commands.plans.steps import Create, Delete, ObjectRef, Patch, Scale, Step

MAX_STEPS = 60  # steps; a training of hundreds of equal Services is judged by its first ones


async def dry_run(steps: Sequence[Step], writer: ClusterWriter) -> None:
    """Raise StepFailedError with the server's words when a step would be refused."""
    made: set[ObjectRef] = set()  # what an earlier step creates: not there yet
    for step in steps[:MAX_STEPS]:
        try:
            await _dry_run_one(step, writer, made)
        except SourceError as error:
            raise StepFailedError(f"Kubernetes would refuse to {step.description}: {error}") from error


async def _dry_run_one(step: Step, writer: ClusterWriter, made: set[ObjectRef]) -> None:
    match step:
        case Patch() if step.ref in made:
            return  # the server cannot judge a change of what is not there
        case Patch():
            found = await writer.read(step.ref, step.subresource)
            if found is None:
                raise StepFailedError(f"{step.ref} is not there")
            for fact in step.requires:
                check(found, fact, step.ref)
            await writer.patch(step, dry_run=True)
        case Create():
            made.add(step.ref)
            if ObjectRef(api="v1", kind="Namespace", name=step.ref.namespace) in made:
                await _create_elsewhere(step, writer)
            else:
                await _create_here(step, writer)
        case Delete():
            await writer.delete(step, dry_run=True)
        case Scale():
            await writer.scale(step, dry_run=True)
        case _:
            return


async def _create_here(step: Create, writer: ClusterWriter) -> None:
    try:
        await writer.create(step, dry_run=True)
    except SourceError as error:
        if error.status != 409 or not step.is_secret:  # whether it is there could not be looked at
            raise


async def _create_elsewhere(step: Create, writer: ClusterWriter) -> None:
    """Rehearse a step whose namespace is not there yet in another one, whose own names and quota do not count."""
    try:
        await writer.create(step, dry_run=True, namespace="default")
    except SourceError as error:
        if error.status != 409 and "exceeded quota" not in str(error):
            raise
