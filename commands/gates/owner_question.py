"""The question of a request to owners, as its thread has it."""

from dataclasses import dataclass

from alerts.store import StoreSnapshot
from commands.execution.plan import Origin
from commands.gates.training_answers import training_labels
from commands.models import ReclaimRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerQuestion:
    """The request in whose thread a line was typed, with its trainings as people read them.

    `for_plan`: a plan asks whether it may end them; else the question is whether idle GPUs are still needed.
    """

    request: str
    trainings: tuple[str, ...] = ()
    for_plan: bool = False


async def question_of_thread(origin: Origin, snapshot: StoreSnapshot) -> OwnerQuestion | None:
    """Return what the request asks in whose thread a line was typed; None elsewhere."""
    if not origin.request or not origin.thread:
        return None
    found = await snapshot.rows(ReclaimRequest).get(origin.request)
    if found is None:
        return OwnerQuestion(request=origin.request)
    trainings = tuple(training_labels(found).values())
    return OwnerQuestion(request=found.id, trainings=trainings, for_plan=bool(found.for_plan))
