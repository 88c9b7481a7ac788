"""Planning of `volume freeze`: no new writer, no writer left, and no new pod where the image is held."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from collectors.cluster.inventory import Inventory
from collectors.facts.sentences import Sentence, listed, sentence
from collectors.volume_use import VolumeUse, VolumeUser
from commands.core.command import PlanDraft
from commands.core.context import CommandContext
from commands.core.cordoned_nodes import cordoned_by, our_reason
from commands.core.lookups import read_node
from commands.core.pricing import stakes_of
from commands.execution.plan import Stage, in_order
from commands.execution.steps import Patch, Record
from commands.gates.price import least_first
from commands.node.cordon_steps import cordon_steps
from commands.volume.volume_names import unseen_notes, volume_named
from commands.volume.writers import hold_schedules, stop_writers

AT_ONCE = 10  # writers that are being stopped at the same time
NAMED = 8  # readers in a note


@dataclass(frozen=True, slots=True, kw_only=True)
class FreezeVolume:
    volume: str
    nodes: tuple[str, ...]
    reason: str
    lasting: timedelta | None
    ask_owners: bool = False


async def freeze(action: FreezeVolume, context: CommandContext) -> PlanDraft:
    """Plan to cordon the nodes that hold the image, to hold schedules, and to stop what may write. Readers stay.

    A cordon comes first: it is harmless, and then no replaced pod starts there. The writers are stopped side by side,
    so that one that cannot be stopped does not keep the others.
    """
    inventory = context.cluster.inventory()
    use = volume_named(action.volume, inventory)
    name = _name(use)
    cordons, notes = await _cordons(action, use, inventory, context)
    schedules, unknown = await hold_schedules(use, context)
    writers = await stop_writers(use, context)
    stakes = await stakes_of(writers.disrupts, context)
    stops = [step for _, steps in least_first(writers.parts, lambda part: part[0], stakes) for step in steps]
    stages = [
        *in_order(*cordons),
        *in_order(*schedules),
        *([Stage(steps=tuple(stops), at_once=AT_ONCE)] if stops else []),
    ]
    left = [*writers.left, *unknown, *unseen_notes(inventory)]
    if not stages:
        return PlanDraft.nothing(
            listed(
                (sentence("Nothing that Yardmaster can stop writes to {volume}.", volume=name), *left), "."
            )
        )
    return PlanDraft(
        title=sentence("Freeze {volume}", volume=name),
        stages=tuple(stages),
        disrupts=tuple(writers.disrupts),
        decided=(frozen(use.image, listed(use.claims)),),
        stakes=stakes,
        ask_owners=action.ask_owners,
        notes=(
            *writers.notes,
            *notes,
            *left,
            *_reader_notes(use.readers),
            sentence(
                "A new pod with this claim on another node is not stopped: tell the team not to start one."
            ),
            *_ceph_notes(use),
            sentence("Undo it only after somebody has checked the file system: it starts the writers again."),
        ),
    )


def frozen(image: str, claims: str) -> Sentence:
    """Return what a freeze decides, by which it is found again."""
    return sentence("freeze {image} of {claims}", image=image, claims=claims)


def _name(use: VolumeUse) -> str:
    return listed(use.claims) or use.image


async def _cordons(
    action: FreezeVolume, use: VolumeUse, inventory: Inventory, context: CommandContext
) -> tuple[list[Patch | Record], list[str]]:
    """Return the cordons of the nodes where a writer is, or that hold the image without a pod, and notes on them."""
    named = list(action.nodes)
    used = {user.node for user in use.users if user.node}
    written = {user.node for user in use.writers if user.node}
    notes: list[str] = []
    if use.is_shared:
        notes.append(
            sentence(
                "It is a file system for many writers, which nothing formats: no node is cordoned for it."
            )
        )
    else:
        named += sorted(written | (set(use.attached) - used))
    lasting = action.lasting if action.lasting is not None else context.defaults.cordon_for
    steps: list[Patch | Record] = []
    for name in dict.fromkeys(named):
        if name not in inventory.nodes and name not in action.nodes:
            continue  # it was removed, and its attachment was not
        node = await read_node(name, context)
        if node.spec.unschedulable:
            notes.append(
                sentence(
                    "{node} is already cordoned by {owner}: that stays, also after an undo.",
                    node=name,
                    owner=cordoned_by(node),
                )
            )
        else:
            reason = action.reason or our_reason(volume=_name(use))
            steps += cordon_steps(node, reason, context, lasting, volume=_name(use))
    return steps, notes


def _reader_notes(readers: Sequence[VolumeUser]) -> list[str]:
    if not readers:
        return []
    named = [
        sentence("{user} on {node}", user=one.name, node=one.node) if one.node else one.name
        for one in readers
    ]
    return [sentence("These only read and go on: {readers}.", readers=listed(named, most=NAMED))]


def _ceph_notes(use: VolumeUse) -> list[str]:
    """Return what a storage admin runs: shown, as Yardmaster never runs it."""
    if not use.rbd:
        return []
    return [
        sentence(
            "For a storage admin, before anything mounts it again: `rbd status {rbd}`, `rbd lock "
            "ls {rbd}`, `rbd snap create {rbd}@before-repair`. Yardmaster runs none of them.",
            rbd=use.rbd,
        )
    ]
