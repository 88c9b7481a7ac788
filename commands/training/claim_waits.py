"""Reasons why a pod's volume claims are not bound: their class, and what their events say. Pure."""

from collectors.cluster.indexes import by_claim, by_involved_object
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import EVENTS, PERSISTENT_VOLUME_CLAIMS, STORAGE_CLASSES
from collectors.cluster.objects import Pod
from collectors.cluster.storage import PersistentVolumeClaim
from collectors.facts.sentences import listed, sentence


def unbound_claims(pod: Pod, inventory: Inventory) -> list[str]:
    """Return what is known of each of its claims that is not bound, or not there."""
    found: list[str] = []
    for key in by_claim(pod):
        claim = inventory.all(PERSISTENT_VOLUME_CLAIMS).get(key)
        name = key.rpartition("/")[2]
        if claim is None:
            if not inventory.missing_reason(PERSISTENT_VOLUME_CLAIMS):
                found.append(sentence("there is no claim `{claim}`", claim=name))
        elif claim.status.phase != "Bound":
            found.append(_why(claim, inventory))
    return found


def _why(claim: PersistentVolumeClaim, inventory: Inventory) -> str:
    meta = claim.metadata
    said = sentence("its claim `{claim}` has no volume", claim=meta.name)
    classes = sorted(one.metadata.name for one in inventory.all(STORAGE_CLASSES).values())
    wanted = claim.spec.storage_class_name
    if wanted and classes and wanted not in classes:
        return sentence(
            "{said}: there is no storage class `{wanted}`, there are {classes}",
            said=said,
            wanted=wanted,
            classes=listed(classes, "and", most=4),
        )
    events = inventory.select(
        EVENTS, by_involved_object, f"{meta.namespace}/PersistentVolumeClaim/{meta.name}"
    )
    last = max(events, key=lambda event: str(event.last_seen), default=None)
    if last is None:
        return said
    return sentence("{said}: {reason}: {message}", said=said, reason=last.reason, message=last.message)
