"""Planning to run a training again that has ended: its objects are deleted, and created again as they were written."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from collectors.facts.sentences import sentence, word
from collectors.trainings.training import Training
from commands.core.command import PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.lookups import reader_of
from commands.execution.object_refs import JsonValue
from commands.execution.plan import in_order
from commands.execution.record_steps import record
from commands.execution.steps import Create, Delete, Step
from commands.models import Launch
from commands.training.lookup import training_named
from commands.training.notes_before import notes_before
from commands.training.training_kinds import KINDS, writing_kind_of
from commands.training.workload_steps import tops_of

_OF_THE_SERVER = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
    "finalizers",
)
_OF_CONTROLLERS = (
    "kubectl.kubernetes.io/last-applied-configuration",
    "yardmaster.io/plan",
    "batch.kubernetes.io/job-tracking",
)
_OF_A_JOB = (
    "controller-uid",
    "batch.kubernetes.io/controller-uid",
    "job-name",
    "batch.kubernetes.io/job-name",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryTraining:
    training: str


async def retry(action: RetryTraining, context: CommandContext) -> PlanDraft:
    """Plan to run it again. Raises UnusableError for one that has not ended, or that cannot be written."""
    training = training_named(action.training, context.cluster.trainings())
    writing_kind_of(training)
    inventory, reader = context.cluster.inventory(), reader_of(context)
    if not training.state.is_over:
        raise UnusableError(
            sentence(
                "{training} is {state}: only what has ended can be run again.",
                training=training.shown,
                state=word(training.state.value),
            )
        )
    steps: list[Step] = []
    for ref, found in tops_of(training, inventory):
        kind = KINDS.get(found.kind_in_keys())
        if kind is None or not kind.has_ended(found):
            continue
        raw = await reader.read(ref)
        if raw is None:
            continue
        steps.append(Delete(ref=ref, description=sentence("delete {ref} and its pods", ref=str(ref))))
        manifest = {**as_written(raw), "apiVersion": ref.api, "kind": ref.kind}
        steps.append(Create(manifest=manifest, description=sentence("create {ref} again", ref=str(ref))))
    if not steps:
        raise UnusableError(
            sentence(
                "Nothing is left of {training} to run again ({reason}): launch it again.",
                training=training.shown,
                reason=training.reason or word(training.state.value),
            )
        )
    return PlanDraft(
        title=sentence("Run {training} again", training=training.shown),
        stages=in_order(*steps, *await _followed(training, context)),
        notes=(
            sentence(
                "The pods of the run that has ended are deleted, with the logs that no log store has. An undo "
                "deletes the new run, and does not bring the old one back."
            ),
            *notes_before("retry", training, inventory),
        ),
    )


async def _followed(training: Training, context: CommandContext) -> list[Step]:
    """Return the step by which the card of its launch follows the new run; none if it was not launched here."""
    async with context.store.read() as snapshot:
        launch = await snapshot.rows(Launch).get(f"{context.cluster.name}/{training.id}")
    if launch is None or not launch.is_over:
        return []
    again = replace(
        launch,
        is_over=False,
        reported_state="",
        reported_reason="",
        at=context.now,
        last_lines=(),
        failed_on="",
        cause="",
        first=None,
        first_line="",
        by_whom="",
        started=None,
        finished=None,
        peak_memory=None,
    )
    return [
        record(
            "launches",
            replace(again, failed_at=None),
            text=sentence("report how the training goes"),
            before=launch,
            undo_text=sentence("write on its card how the previous run ended"),
        )
    ]


def as_written(raw: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Return an object as it was written: without what the server and its controllers added."""
    meta = {key: value for key, value in raw["metadata"].items() if key not in _OF_THE_SERVER}
    if notes := meta.get("annotations"):
        meta["annotations"] = {key: one for key, one in notes.items() if key not in _OF_CONTROLLERS}
    if labels := meta.get("labels"):
        meta["labels"] = {key: one for key, one in labels.items() if key not in _OF_A_JOB}
    made = {key: value for key, value in raw.items() if key not in ("metadata", "status")}
    spec = made.get("spec") or {}
    if raw.get("kind") == "Job" and "template" in spec and not spec.get("manualSelector"):
        template = spec["template"]
        of_pods = template.get("metadata") or {}
        labels = {key: one for key, one in (of_pods.get("labels") or {}).items() if key not in _OF_A_JOB}
        template = {**template, "metadata": {**of_pods, "labels": labels}}
        made["spec"] = {**{key: one for key, one in spec.items() if key != "selector"}, "template": template}
    return {**made, "metadata": meta}
