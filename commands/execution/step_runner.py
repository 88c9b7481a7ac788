"""Running of one step until it is over: retries, waits, limits, and what an error means."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence
from collectors.internal_errors import InternalErrors
from commands.execution.cluster_writer import NotAsWrittenError
from commands.execution.step_outcomes import Done, Outcome, Refused, Unknown, Waiting
from commands.execution.steps import Step
from commands.execution.steps.step_kind import Attempt

RETRY_AFTER = (1.0, 2.0, 5.0, 10.0, 20.0)  # seconds between retries while the cluster does not answer
Pause = Callable[[float], Awaitable[None]]
Monotonic = Callable[[], float]  # seconds; a clock that may step would end waits too early or never
IsCancelled = Callable[[str], Awaitable[bool]]  # gets the reason why the step waits


class NotRecordedError(Exception):
    """A row could not be written, for the store's error, which may pass."""

    def __init__(self, why: Exception) -> None:
        super().__init__(str(why))
        self.why = why


class StepRunner:
    """Tries steps. Durations are measured with a monotonic clock."""

    def __init__(
        self,
        pause: Pause = asyncio.sleep,
        monotonic: Monotonic = time.monotonic,
        *,
        errors: InternalErrors,
    ) -> None:
        self._pause = pause
        self._monotonic = monotonic
        self._errors = errors

    async def run(
        self, step: Step, attempt: Attempt, slots: asyncio.Semaphore, is_cancelled: IsCancelled
    ) -> Outcome:
        """Try a step until it is done, refused, given up, or its plan is cancelled while it waits.

        The caller holds one of the slots. It is lent to other steps while this one waits, unless its write took
        effect: a pod that terminates occupies its slot, one that waits for its disruption budget does not.
        """
        ends_at, unanswered = self._monotonic() + step.limit, 0
        while True:
            outcome, is_answered = await self._try(step, attempt, unanswered)
            if not isinstance(outcome, Waiting):
                return outcome
            unanswered = 0 if is_answered else unanswered + 1
            if self._monotonic() >= ends_at:
                return given_up(step, attempt, outcome, is_answered=is_answered)
            if await is_cancelled(outcome.reason) and not attempt.was_sent:
                return outcome
            if attempt.was_sent:
                await self._pause(outcome.again_in)
            else:
                async with _lent(slots):
                    await self._pause(outcome.again_in)
                if await is_cancelled(outcome.reason):
                    return outcome

    async def look(self, step: Step, attempt: Attempt) -> Outcome:
        """Return what came of a step that an earlier process began, without trying it again. Waiting: nothing."""
        try:
            found = await step.observe(attempt.writer, attempt.plan)
        except SourceError as error:
            return Unknown(reason=outcome_not_known(step, said_by(error)))
        except Exception as error:
            contained = self._errors.contain(error, "plan", plan=attempt.plan, step=step.description[:200])
            return Unknown(reason=outcome_not_known(step, contained))
        match found:
            case Refused(reason=reason):
                return Waiting(reason=reason)
            case Waiting(reason=reason):
                return Unknown(reason=outcome_not_known(step, reason))
            case _:
                return found

    async def _looked(self, step: Step, attempt: Attempt, error: NotAsWrittenError) -> Outcome:
        """Return what came of a write whose answer is not to be believed: what stands at the API server counts."""
        try:
            found = await step.observe(attempt.writer, attempt.plan)
        except SourceError:
            return ended(step, attempt, said_by(error))
        match found:
            case Refused(reason=reason):
                return Refused(
                    reason=sentence(
                        "{error}. Checked again: {reason}. Other changes of this step may remain.",
                        error=said_by(error),
                        reason=reason,
                    )
                )
            case Done():
                return found
            case _:
                return ended(step, attempt, said_by(error))

    async def _try(self, step: Step, attempt: Attempt, unanswered: int) -> tuple[Outcome, bool]:
        """Return the outcome of one try, and whether the cluster answered."""
        try:
            return await step.apply(attempt), True
        except NotRecordedError:
            raise
        except NotAsWrittenError as error:
            return await self._looked(step, attempt, error), True
        except SourceError as error:
            if error.temporary:
                pause = RETRY_AFTER[min(unanswered, len(RETRY_AFTER) - 1)]
                return Waiting(reason=said_by(error), again_in=pause), False
            return ended(step, attempt, said_by(error)), True
        except Exception as error:
            contained = self._errors.contain(error, "plan", plan=attempt.plan, step=step.description[:200])
            return ended(step, attempt, contained), True


@asynccontextmanager
async def _lent(slots: asyncio.Semaphore) -> AsyncGenerator[None]:
    slots.release()
    try:
        yield
    finally:
        await slots.acquire()


def given_up(step: Step, attempt: Attempt, last: Waiting, *, is_answered: bool) -> Outcome:
    """Return the outcome of a step that was tried for too long."""
    if is_answered:
        return Refused(
            reason=sentence(
                "{step}: timeout after {limit:.0f} s; {reason}",
                step=step.description,
                limit=step.limit,
                reason=last.reason,
            )
        )
    return ended(step, attempt, last.reason)


def ended(step: Step, attempt: Attempt, error: str) -> Outcome:
    """Return the outcome of a step that an error ended: after a write it is not known whether the step was done."""
    if attempt.was_sent:
        return Unknown(reason=outcome_not_known(step, error))
    return Refused(reason=sentence("{error}. This step was not done.", error=error))


def outcome_not_known(step: Step, why: str) -> str:
    """Return what a person is shown about a step whose outcome is not known, and why it is not."""
    return sentence(
        "{why}. It is not known whether this step was done: {step}. Yardmaster looks again once the cluster answers; "
        "to look yourself, run `{how_to_check}`",
        why=why,
        step=step.description,
        how_to_check=step.how_to_check,
    )
