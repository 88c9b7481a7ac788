"""Pricing of what a plan ends: the figures, from the cluster's cache and what trainings report of their checkpoints."""

import asyncio
from collections.abc import Iterable
from datetime import datetime

from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Workload
from collectors.facts.clock import moment_of
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, SourceError
from collectors.facts.workload_keys import is_workload_key
from collectors.trainings.training import Training
from commands.core.context import Cluster, CommandContext
from commands.execution.disruption import Disruption
from commands.execution.stake import Stake
from commands.gates.price import price_of, stake_of_training

AT_ONCE = 8  # trainings whose checkpoint is asked for
ASKED = 100  # trainings whose checkpoint is asked for at all; of the others it is not known


async def checkpoint_of(training: Training, cluster: Cluster, now: datetime) -> datetime | None:
    """Return when its last checkpoint was written, as far as the training reports it."""
    pods = "|".join(sorted({rank.pod for rank in training.ranks}))
    by_pod = "" if training.has_namespace else f',pod=~"{pods}"'
    query = f'max(training_checkpoint_timestamp_seconds{{namespace="{training.namespace}"{by_pod}}})'
    seen = await cluster.query(PromQLQuery(expr=query), at=now)
    if isinstance(seen, Blind) or not seen.samples:
        return None
    saved = moment_of(seen.samples[0].value)
    # Before the first checkpoint exporters report NaN or 0; one of the future says nothing of what is lost.
    return saved if saved is not None and 0 < saved.timestamp() <= now.timestamp() else None


async def stakes_of(disrupts: Iterable[Disruption], context: CommandContext) -> tuple[Stake, ...]:
    """Return what is at stake of each that a plan disrupts, what costs least first."""
    every = list(disrupts)
    if not every:
        return ()
    try:
        trainings = {one.id: one for one in context.cluster.trainings()}
        inventory = context.cluster.inventory()
    except SourceError:  # then nothing is known but the names
        trainings, inventory = {}, None
    hit = [trainings[one.name] for one in every if one.name in trainings][:ASKED]
    saved = await _checkpoints(hit, context)
    return price_of(
        stake_of_training(trainings[one.name], gpus=one.gpus, saved_at=saved.get(one.name), now=context.now)
        if one.name in trainings
        else _stake(one, inventory)
        for one in every
    ).stakes


async def _checkpoints(trainings: Iterable[Training], context: CommandContext) -> dict[str, datetime | None]:
    slots = asyncio.Semaphore(AT_ONCE)
    found: dict[str, datetime | None] = {}

    async def look(training: Training) -> None:
        async with slots:
            found[training.id] = await checkpoint_of(training, context.cluster, context.now)

    async with asyncio.TaskGroup() as group:
        for training in trainings:
            group.create_task(look(training))
    return found


def _stake(one: Disruption, inventory: Inventory | None) -> Stake:
    """Return what is at stake of a workload other than a training: the replicas that are left."""
    top = inventory.top_of(one.name) if inventory is not None and is_workload_key(one.name) else None
    stake = Stake(name=one.name, shown=one.label, owner=one.owner, team=one.team, gpus=one.gpus)
    if not isinstance(top, Workload):
        return stake
    wanted = top.spec.replicas if top.spec.replicas is not None else 1
    left = max(0, top.status.ready_replicas - one.pods) if one.pods is not None else None
    return Stake(
        name=one.name,
        shown=one.label,
        owner=one.owner,
        team=one.team,
        gpus=one.gpus,
        replicas=wanted,
        left=left,
    )
