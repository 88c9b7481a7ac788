"""The failure of a training that is shown: read again from its logs, or as it was found when it failed."""

from alerts.incidents.incident import Incident
from collectors.facts.redaction import Redactor
from collectors.trainings.training import Training, TrainingState
from commands.core.context import CommandContext
from commands.core.pod_lines import MAX_LOG
from commands.models import Launch, TrainingNotice
from commands.training.failure_blocks import FailureRow, ShownFailure, failure_found, failure_of_row
from commands.training.failure_evidence import failure_evidence
from commands.training.failure_finding import find_failure


async def known_failure(
    training: Training, incident: Incident | None, context: CommandContext
) -> ShownFailure | None:
    """Return who failed first and why; of a training that has not failed, the rank that did, if any. `incident`:
    of a node where it may have died.
    """
    if training.state is not TrainingState.FAILED:
        shown = ShownFailure(first=training.first_failure, incident=incident)
        return shown if shown.is_known else None
    redact = Redactor(context.defaults.redact, limit=MAX_LOG)
    evidence = await failure_evidence(training, context.cluster, redact=redact, now=context.now)
    found = find_failure(training, evidence, context.rules)
    if not found.line and (row := await _row(training, context)) is not None:
        return failure_of_row(row, incident, training.first_failures)
    return failure_found(found, incident, training.first_failures)


async def _row(training: Training, context: CommandContext) -> FailureRow | None:
    """Return the row of this failure, which was stored while its logs could be read."""
    cluster = context.cluster.name
    async with context.store.read() as snapshot:
        launch = await snapshot.rows(Launch).get(f"{cluster}/{training.id}")
        notices = await snapshot.rows(TrainingNotice).find(cluster=cluster, training=training.id)
    if launch is not None and launch.first_line and launch.reported_state == training.state.value:
        return launch
    same = (one for one in notices if one.first_line and one.failed_at == training.finished)
    return next(same, None)
