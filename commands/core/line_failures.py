"""Answers to lines that could not be run: refused, not understood, or interrupted."""

from dataclasses import dataclass, field
from datetime import timedelta

from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence
from commands.core.command import (
    Answer,
    AnyCommand,
    CommandOutcome,
    DeniedError,
    UnknownNameError,
    UnusableError,
)
from commands.core.guidance import denied, near_names, refused
from commands.core.request import ActorKind, Request
from commands.core.request_journal import RequestJournal


@dataclass(slots=True, kw_only=True)
class LineProgress:
    """How far a line has come."""

    cluster_name: str
    command: AnyCommand | None = None
    words: list[str] = field(default_factory=list)
    outcome: str = "failed"


async def refusal_of(
    error: DeniedError | UnknownNameError | UnusableError,
    request: Request,
    progress: LineProgress,
    journal: RequestJournal,
) -> Answer | None:
    """Return the answer to a line that may not be run, or cannot be understood; None if nothing is answered."""
    if isinstance(error, DeniedError):
        progress.outcome = "refused"
        await journal.note(request, progress.cluster_name, "refused", said_by(error), plan=error.plan)
        return denied(error, progress.words) if str(error) else None
    progress.outcome = "invalid"
    if isinstance(error, UnknownNameError):
        return near_names(error, progress.command, progress.words)
    return refused(said_by(error), CommandOutcome.WRONG, blocks=error.blocks)


def interruption_of(
    error: SourceError | TimeoutError, request: Request, progress: LineProgress, *, within: timedelta
) -> Answer:
    """Return the answer to a line whose cluster did not answer, or that took longer than `within`."""
    if isinstance(error, SourceError):
        progress.outcome = "blind"
        return refused(
            sentence("The cluster cannot be read: {error}", error=said_by(error)), CommandOutcome.FAILED
        )
    progress.outcome = "timeout"
    # A commit may have landed although its answer timed out.
    asked = progress.command
    is_person = request.actor.kind is not ActorKind.AUTOMATION  # whose plans are confirmed at once
    is_sure = asked is None or (asked.record is None and is_person)
    outcome = (
        sentence("nothing was done")
        if is_sure
        else sentence("it is not known whether it was done: check before you try again")
    )
    return refused(
        sentence(
            "Timed out after {seconds:.0f} s; {outcome}.", seconds=within.total_seconds(), outcome=outcome
        ),
        CommandOutcome.FAILED,
    )
