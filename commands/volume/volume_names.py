"""Volumes by the name of a claim, of a volume or of an RBD image."""

from collections.abc import Mapping, Sequence

from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import PERSISTENT_VOLUMES, VOLUME_ATTACHMENTS
from collectors.facts.sentences import sentence
from collectors.volume_use import VolumeUse, volume_uses
from commands.core.lookups import ambiguous, known_name


def volume_named(name: str, inventory: Inventory) -> VolumeUse:
    """Return the image by `namespace/claim`, by the claim alone if only one matches, by its volume, or as pool/image.

    Raises UnusableError that lists the matches, or the closest names.
    """
    uses = volume_uses(inventory)
    named = _names(uses)
    if name in named:
        return uses[named[name]]
    matches = {
        claim: image for image, use in uses.items() for claim in use.claims if claim.endswith(f"/{name}")
    }
    if len(set(matches.values())) == 1:
        return uses[next(iter(matches.values()))]
    if matches:
        raise ambiguous(name, matches)
    return uses[named[known_name(name, named, "volume")]]


def _names(uses: Mapping[str, VolumeUse]) -> dict[str, str]:
    images = [use.rbd.rpartition("/")[2] for use in uses.values() if use.rbd]
    return {
        name: image
        for image, use in uses.items()
        for name in (*use.claims, *use.volumes, use.rbd, _only_image(use, images))
        if name
    }


def _only_image(use: VolumeUse, images: Sequence[str]) -> str:
    """Return its image without the pool, as logs and cards have it, if no other pool has one of that name."""
    image = use.rbd.rpartition("/")[2]
    return image if images.count(image) == 1 else ""


def unseen_notes(inventory: Inventory) -> list[str]:
    """Return what cannot be known of a volume while kinds of objects cannot be seen."""
    notes: list[str] = []
    if reason := inventory.missing_reason(PERSISTENT_VOLUMES):
        notes.append(
            sentence(
                "Volumes cannot be seen, so other claims of the same image are not known: {reason}.",
                reason=reason,
            )
        )
    if reason := inventory.missing_reason(VOLUME_ATTACHMENTS):
        notes.append(
            sentence(
                "Attachments cannot be seen, so nodes that hold the image without a pod are not "
                "known: {reason}.",
                reason=reason,
            )
        )
    return notes
