"""Planning to stop a training: delete its top controllers, or the namespace that we created for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from collectors.cluster.indexes import by_namespace
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import NAMESPACES, PERSISTENT_VOLUME_CLAIMS
from collectors.facts.sentences import Sentence, counted, listed, sentence, word
from collectors.trainings.training import Training
from commands.core.command import PlanDraft
from commands.core.context import CommandContext
from commands.core.pricing import checkpoint_of
from commands.execution.disruption import Disruption
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import in_order
from commands.execution.steps import Delete, Step
from commands.training.lookup import is_our_namespace, training_named
from commands.training.manifests import MANAGED_BY, OURS, SCRIPT_OBJECT, TRAINING_LABEL
from commands.training.notes_before import notes_before
from commands.training.workload_steps import stop_steps


@dataclass(frozen=True, slots=True, kw_only=True)
class StopTraining:
    training: str
    keep_namespace: bool
    ask_owners: bool = False


async def stop(action: StopTraining, context: CommandContext) -> PlanDraft:
    """Plan to delete the training. Pods are never deleted one by one: their controllers would recreate them."""
    inventory = context.cluster.inventory()
    training = training_named(action.training, context.cluster.trainings())
    breaks: list[str] = []
    notes = [await lost_work(training, context)] if not training.state.is_over and training.ranks else []
    is_ours = is_our_namespace(training, inventory)
    steps: tuple[Step, ...]
    if is_ours and not action.keep_namespace:
        meta = inventory.all(NAMESPACES)[training.namespace].metadata
        ref = ObjectRef(api="v1", kind="Namespace", name=meta.name, uid=meta.uid)
        steps = (
            Delete(
                ref=ref,
                description=sentence(
                    "delete namespace {namespace}, which was created for it", namespace=meta.name
                ),
            ),
        )
        deleted = deleted_with_namespace(meta.name, inventory)
        notes += [sentence("{deleted} `--keep-namespace` keeps them.", deleted=one) for one in deleted]
        if deleted:
            breaks.append(deletes_claims(meta.name))
    else:
        steps = stop_steps(training, inventory, left=await _left(training, context))
        if training.has_namespace:
            notes.append(
                sentence(
                    "Namespace {namespace} is kept with its volume claims.", namespace=training.namespace
                )
                if is_ours
                else sentence(
                    "Namespace {namespace} is kept, as it was not created by Yardmaster, with its volume claims.",
                    namespace=training.namespace,
                )
            )
    if not steps:
        return PlanDraft.nothing(
            sentence(
                "There is nothing left to stop of {training}: {reason}.",
                training=training.shown,
                reason=training.reason or word(training.state.value),
            )
        )
    return PlanDraft(
        title=sentence("Stop {training}", training=training.shown),
        stages=in_order(*steps),
        notes=(*notes, *notes_before("stop", training, inventory)),
        disrupts=() if training.state.is_over else (disruption_of(training),),
        breaks=tuple(breaks),
        ask_owners=action.ask_owners,
    )


def disruption_of(training: Training) -> Disruption:
    """Return the disruption of a whole training: `vision-detr/detr of ana: 6 ranks, 32 GPUs`."""
    ranks = counted("{count} rank", "{count} ranks", count=training.wanted)
    return Disruption(
        name=training.id,
        shown=training.shown,
        owner=training.owner,
        team=training.team,
        gpus=training.gpus_wanted,
        text=ranks,
        ends=any(rank.phase == "Running" for rank in training.ranks),
    )


async def lost_work(training: Training, context: CommandContext) -> str:
    """Return what a stop costs: the work since the last checkpoint, as far as the training reports it."""
    saved = await checkpoint_of(training, context.cluster, context.now)
    if saved is None:
        return sentence("The age of its last checkpoint is not known: work since then is lost.")
    return sentence("Its last checkpoint is {age} old: work since then is lost.", age=context.now - saved)


async def _left(training: Training, context: CommandContext) -> list[dict[str, Any]]:
    """Return the Services and scripts that we created for it, and none created by others."""
    if context.cluster.reader is None or not training.has_namespace:
        return []
    reader, space = context.cluster.reader, training.namespace
    services = await reader.listing(ObjectRef(api="v1", kind="Service", namespace=space, name=""))
    script = await reader.read(ObjectRef(api="v1", kind="ConfigMap", namespace=space, name=SCRIPT_OBJECT))
    found = [{**one, "kind": "Service"} for one in services]  # lists omit it
    found += [{**script, "kind": "ConfigMap"}] if script is not None else []
    return [one for one in found if _is_its_own(one["metadata"].get("labels") or {}, training)]


def _is_its_own(labels: Mapping[str, str], training: Training) -> bool:
    return labels.get(MANAGED_BY) == OURS and labels.get(TRAINING_LABEL) == training.name


def deletes_claims(namespace: str) -> Sentence:
    """Return why the deletion of a namespace that has volume claims needs a second person."""
    return sentence("it deletes the volume claims of namespace {namespace}", namespace=namespace)


def deleted_with_namespace(namespace: str, inventory: Inventory) -> list[str]:
    """Return notes on what is deleted with a namespace besides its trainings."""
    if inventory.missing_reason(PERSISTENT_VOLUME_CLAIMS):
        return [
            sentence(
                "Volume claims in {namespace} are deleted with it; their names are not known now.",
                namespace=namespace,
            )
        ]
    claims = [
        one.metadata.name for one in inventory.select(PERSISTENT_VOLUME_CLAIMS, by_namespace, namespace)
    ]
    return (
        [sentence("Volume claims deleted with it: {claims}.", claims=listed(sorted(claims)))]
        if claims
        else []
    )
