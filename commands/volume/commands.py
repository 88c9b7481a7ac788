"""The commands `volume list|show|freeze`."""

from dataclasses import dataclass

import click

from alerts.cards.message import Block, Button, Buttons, Context, Fields, Message
from alerts.cards.text import Text, bold, code, text
from collectors.facts.sentences import counted, listed, sentence
from collectors.volume_use import VolumeUser
from commands.core.command import Answer, Command
from commands.core.context import CommandContext
from commands.core.parameter_types import NODE, VOLUME
from commands.core.parameters import ask_owners_option, lasting_option, option, reason_option
from commands.execution.rights import Right, RightsOfKinds
from commands.execution.steps import Evict, Patch
from commands.training.workload_steps import suspend_rights
from commands.volume.fix_mounts import FIX
from commands.volume.freeze import FreezeVolume, freeze
from commands.volume.thaw import ThawVolume, freeze_of, thaw
from commands.volume.volume_list import LIST_VOLUMES
from commands.volume.volume_names import unseen_notes, volume_named

SHOWN = 20  # pods


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowVolume:
    volume: str


async def show(action: ShowVolume, context: CommandContext) -> Answer:
    """Return the claims of one image, the pods that use it, and the nodes that hold it."""
    inventory = context.cluster.inventory()
    use = volume_named(action.volume, inventory)
    rows: list[tuple[str, Text]] = [("claim", text(code(claim))) for claim in use.claims]
    rows += [("volume", text(code(volume))) for volume in use.volumes]
    if use.rbd:
        rows.append(("image", text(code(use.rbd))))
    rows += [("writer" if user.may_write else "reader", _user(user)) for user in use.users[:SHOWN]]
    if len(use.users) > SHOWN:
        rows.append(
            ("more", text(counted("{count} more pod", "{count} more pods", count=len(use.users) - SHOWN)))
        )
    rows += [
        ("may write", text(code(workload)))
        for workload in use.templates
        if not any(inventory.workload_of(user.pod) == workload for user in use.writers)
    ]
    used = {user.node for user in use.users}
    rows += [
        ("attached to", text(node if node in used else sentence("{node}, where no pod uses it", node=node)))
        for node in use.attached
    ]
    blocks: list[Block] = [Fields(rows=tuple(rows))]
    blocks += [Context(text=text("⚠ ", note)) for note in unseen_notes(inventory)]
    if use.claims:
        label, verb = ("Thaw", "thaw") if await freeze_of(use, context) is not None else ("Freeze", "freeze")
        if context.may.get(f"volume {verb}", False):
            button = Button(label=label, line=f"volume {verb} {use.claims[0]}")
            blocks.append(Buttons(buttons=(button,)))
    title = text(bold(sentence("Volume {volume}", volume=listed(use.claims) or use.image)))
    return Answer(message=Message(title=title, blocks=tuple(blocks)))


def _user(user: VolumeUser) -> Text:
    return text(
        sentence("{user} on {node}", user=user.name, node=user.node)
        if user.node
        else sentence("{user}, not placed yet", user=user.name)
    )


_VOLUME = click.Argument(["volume"], type=VOLUME)
_FREEZE_RIGHTS = RightsOfKinds(
    lambda: (
        *Patch.rights("", "nodes"),
        *Patch.rights("batch", "cronjobs"),
        Right(group="batch", resources=("cronjobs",), verbs=("list",)),
        *Evict.rights("", "pods"),
        *suspend_rights(),
    )
)

COMMANDS = (
    LIST_VOLUMES,
    Command(
        noun="volume",
        verb="show",
        summary="Show a volume: its claims, who writes and reads it, and the nodes that hold it.",
        action=ShowVolume,
        parameters=(_VOLUME,),
        read=show,
        example="volume show vision/checkpoints",
    ),
    Command(
        noun="volume",
        verb="freeze",
        summary="Freeze a volume in danger: stop what writes to it, and cordon the nodes that hold it.",
        action=FreezeVolume,
        parameters=(
            _VOLUME,
            option(
                "--node",
                "nodes",
                type=NODE,
                multiple=True,
                help="a node that holds the image too, such as one that could not unmap it; can be given again",
            ),
            reason_option("why, shown with the cordons"),
            lasting_option("how long the leases of the cordons last; default: 4h, or the settings"),
            ask_owners_option(),
        ),
        plan=freeze,
        rights=_FREEZE_RIGHTS,
        example='volume freeze vision/checkpoints --node gpu-a04 --reason "its unmap failed"',
        details=(
            "The volume is named by a claim, by its PersistentVolume, or as pool/image; other claims of the same image "
            "are frozen with it. CronJobs and trainings that may write are suspended, Deployments and StatefulSets "
            "scaled to 0, and pods without a controller evicted, for good. Nodes are cordoned where a writer is, and "
            "where the image is attached although no pod uses it. Readers keep running, and the preview names them. "
            "A pod with the claim that somebody creates later on another node is not stopped; the preview also names "
            "what only its own controller can stop. Yardmaster runs nothing in Ceph: the preview shows the commands "
            "for a storage admin. Undo lifts the cordons and starts the writers again."
        ),
    ),
    Command(
        noun="volume",
        verb="thaw",
        summary="Thaw a frozen volume: start its writers again, and lift the cordons of the freeze.",
        action=ThawVolume,
        parameters=(_VOLUME,),
        plan=thaw,
        rights=_FREEZE_RIGHTS,
        example="volume thaw vision/checkpoints",
        details=(
            "It reverts the last freeze of the volume that is in effect, as `plan undo` does, and the preview "
            "shows the "
            "commands with which a storage admin checks the image first, filled in; Yardmaster runs none of them. "
            "Where the image is still attached to a node on which no pod uses it, a second person confirms it: a "
            "second writer destroys the file system. VolumeAttachments are never deleted."
        ),
    ),
    FIX,
)
