"""Planning of `volume thaw`: the undo of the last freeze of a volume, once somebody has looked at its file system."""

from dataclasses import dataclass, replace

from collectors.facts.sentences import Sentence, listed, sentence
from collectors.volume_use import VolumeUse
from commands.core.command import PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.plan_undo import PlanName, undo
from commands.execution.plan import Plan
from commands.volume.freeze import frozen
from commands.volume.volume_names import unseen_notes, volume_named

NEWEST = 500  # plans that are read for the freeze


@dataclass(frozen=True, slots=True, kw_only=True)
class ThawVolume:
    volume: str


async def thaw(action: ThawVolume, context: CommandContext) -> PlanDraft:
    """Plan to revert the last freeze that stands. Raises UnusableError if there is none."""
    inventory = context.cluster.inventory()
    use = volume_named(action.volume, inventory)
    name = listed(use.claims) or use.image
    plan = await freeze_of(use, context)
    if plan is None:
        raise UnusableError(
            sentence(
                "Yardmaster does not hold {volume} frozen. `audit` lists what was done; what somebody else stopped, "
                "they start again.",
                volume=name,
            )
        )
    draft = await undo(PlanName(plan=plan.id), context, by="volume thaw")
    held = [node for node in use.attached if node not in {user.node for user in use.users}]
    return replace(
        draft,
        title=sentence("Thaw {volume}", volume=name),
        notes=(
            sentence("It reverts plan `{plan}` of {who}.", plan=plan.id, who=plan.actor_name),
            *_looks(use),
            *_held_notes(held),
            *unseen_notes(inventory),
            *draft.notes,
        ),
        breaks=(*draft.breaks, *([_held_reason(held)] if held and not use.is_shared else [])),
    )


async def freeze_of(use: VolumeUse, context: CommandContext) -> Plan | None:
    """Return the last freeze of the image that did something and was not undone."""
    async with context.store.read() as snapshot:
        plans = await snapshot.rows(Plan).find(cluster=context.cluster.name, newest=True, limit=NEWEST)
    start = str(frozen(use.image, ""))
    return next(
        (
            one
            for one in plans
            if one.command == "volume freeze"
            and one.has_ended
            and not one.undone_by
            and one.confirmed_at is not None
            and any(str(said).startswith(start) for said in one.decided)
        ),
        None,
    )


def _looks(use: VolumeUse) -> list[Sentence]:
    """Return what a storage admin runs first: shown, as Yardmaster never runs it."""
    if not use.rbd:
        return [
            sentence("Thaw it only after somebody has checked the file system: it starts the writers again.")
        ]
    return [
        sentence(
            "Before you confirm it, a storage admin checks: `rbd status {rbd}` lists only the watchers that "
            "belong there, `rbd lock ls {rbd}` no lock of a node that is gone, and `rbd snap create "
            "{rbd}@before-thaw` keeps what is there. Then the file system is checked where it is mapped "
            "read-only. Yardmaster runs none of them.",
            rbd=use.rbd,
        )
    ]


def _held_notes(held: list[str]) -> list[Sentence]:
    if not held:
        return []
    return [
        sentence(
            "It is still attached to {nodes}, where no pod uses it: reboot the node, or let its kubelet unmap it. The "
            "VolumeAttachment is not to be deleted: that lets a second node write while the first still does.",
            nodes=listed(held),
        )
    ]


def _held_reason(held: list[str]) -> Sentence:
    return sentence("the image is still attached to {nodes}, where no pod uses it", nodes=listed(held))
