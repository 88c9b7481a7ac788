"""This file plans the end of a training: at its top controllers, or with the whole namespace that we made for it."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import PERSISTENT_VOLUME_CLAIMS
from collectors.facts.clock import in_words
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind
from collectors.trainings.training import Training
from commands.core.command import PlanDraft
from commands.core.context import CommandContext
from commands.plans.steps import Delete, ObjectRef, Step
from commands.training.lookup import is_our_namespace, training_named
from commands.training.manifests import MANAGED_BY, OURS, TRAINING
from commands.training.training_kinds import kind_of


@dataclass(frozen=True, slots=True, kw_only=True)
class StopTraining:
    training: str
    keep_namespace: bool


async def stop(action: StopTraining, context: CommandContext) -> PlanDraft:
    """Never deletes pods one by one: their controllers would make them anew."""
    inventory = context.cluster.inventory()
    training = training_named(action.training, context.cluster.trainings())
    notes = [await lost_work(training, context)] if not training.state.is_over and training.ranks else []
    is_ours = is_our_namespace(training, inventory)
    steps: tuple[Step, ...]
    if is_ours and not action.keep_namespace:
        place = inventory.namespaces[training.namespace].metadata
        ref = ObjectRef(api="v1", kind="Namespace", name=place.name, uid=place.uid)
        steps = (Delete(ref=ref, description=f"delete namespace {place.name}, which was made for it"),)
        notes += [
            f"{one} `--keep-namespace` keeps them." for one in deleted_with_namespace(place.name, inventory)
        ]
    else:
        steps = kind_of(training).stop(training, inventory, left=await _left(training, context))
        if training.has_namespace:
            reason = "is kept" if is_ours else "stays, for we did not make it"
            notes.append(f"Namespace {training.namespace} {reason}, with its volume claims.")
    if not steps:
        return PlanDraft(
            title="",
            nothing_to_do=f"Nothing of {training.id} is left to stop: {training.reason or training.state.value}.",
        )
    return PlanDraft(
        title=f"Stop {training.id}",
        steps=steps,
        notes=tuple(notes),
        disrupts=() if training.state.is_over else (training_summary(training),),
    )


def training_summary(training: Training) -> str:
    """`vision-detr/detr of ana: 6 ranks, 32 GPUs`: facts only, no moments, for the plan's hash covers it."""
    owner = f" of {training.owner}" if training.owner else ""
    ranks = f"{training.wanted} rank{'s' if training.wanted != 1 else ''}"
    return f"{training.id}{owner}: {ranks}, {training.gpus_wanted:g} GPUs"


async def lost_work(training: Training, context: CommandContext) -> str:
    """What a stop costs: the work since the last checkpoint, as far as the training tells it."""
    unknown = "How old its last checkpoint is is not known: what came after it is lost."
    if context.cluster.prometheus is None:
        return unknown
    pods = "|".join(sorted({rank.pod for rank in training.ranks}))
    by_pod = "" if training.has_namespace else f',pod=~"{pods}"'
    query = f'max(training_checkpoint_timestamp_seconds{{namespace="{training.namespace}"{by_pod}}})'
    seen = await context.cluster.prometheus.query(PromQLQuery(expr=query), at=context.now)
    if isinstance(seen, Blind) or not seen.samples:
        return unknown
    age = context.now.timestamp() - seen.samples[0].value
    return f"Its last checkpoint is {in_words(timedelta(seconds=age))} old: what came after it is lost."


async def _left(training: Training, context: CommandContext) -> list[dict[str, Any]]:
    """The Services and scripts that we made for it; what others made there is theirs."""
    if context.cluster.reader is None or not training.has_namespace:
        return []
    found: list[dict[str, Any]] = []
    for kind in ("Service", "ConfigMap"):
        listed = await context.cluster.reader.listing(
            ObjectRef(api="v1", kind=kind, namespace=training.namespace, name="")
        )
        for one in listed:
            labels = one["metadata"].get("labels") or {}
            if labels.get(MANAGED_BY) == OURS and labels.get(TRAINING) == training.name:
                found.append({**one, "kind": kind})  # lists leave it out
    return found


def deleted_with_namespace(namespace: str, inventory: Inventory) -> list[str]:
    """What goes with a namespace beside its trainings."""
    if inventory.missing_reason(PERSISTENT_VOLUME_CLAIMS):
        return [f"Volume claims in {namespace} go with it; which there are is not known now."]
    claims = [
        one.metadata.name
        for one in inventory.persistent_volume_claims.values()
        if one.metadata.namespace == namespace
    ]
    return [f"Volume claims go with it: {', '.join(sorted(claims))}."] if claims else []
