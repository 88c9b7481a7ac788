"""Cordons as they stand on nodes: who made one and why, and what speaks against lifting it. Pure."""

import re
from collections.abc import Iterable

from alerts.cards.message import Button
from alerts.incidents.incident import Incident
from alerts.incidents.xid_advice import keeps_node
from collectors.checks.nodes import CORDONED_BY
from collectors.cluster.conditions import is_node_ready
from collectors.cluster.objects import Node
from collectors.cluster.resources import gpus_out_of_service
from collectors.facts.sentences import Sentence, counted, headline_of, listed, sentence

BY, AT, REASON = CORDONED_BY, "yardmaster.io/cordoned-at", "yardmaster.io/cordon-reason"
UNTIL, CORDON_INCIDENT = "yardmaster.io/cordon-until", "yardmaster.io/cordon-incident"
CORDON_VOLUME = "yardmaster.io/cordon-volume"

# Alerts of these names say that a GPU is lost: what runs on it fails.
GPU_LOST = frozenset(
    {"GPUXIDError", "GPUXIDChanged", "GPUXIDLogged", "GPUFellOffBusLogged", "GPUUnhealthy", "GPUMissing"}
)

_HARDWARE = re.compile(
    r"\b(gpus?|xid|bus|nvlink|nvswitch|ecc|dimms?|memory|fans?|hot|heat|overheat\w*|thermal|power|psu|disks?|nvme|ssd"
    r"|nics?|cables?|links?|infiniband|boards?|hardware|broken|defect\w*|dead|faulty|fails?|failed|failure|rma|repairs?"
    r"|replac\w*|reboot\w*|restart\w*)\b",
    re.IGNORECASE,
)


def annotations_of(node: Node) -> dict[str, str]:
    return node.metadata.annotations or {}


def stands(node: Node) -> bool:
    """Whether a cordon of ours stands on the node."""
    return bool(node.spec.unschedulable) and BY in annotations_of(node)


def cordoned_by(node: Node) -> str:
    return annotations_of(node).get(BY, sentence("someone else"))


def our_reason(*, volume: str = "", incident: str = "") -> Sentence:
    """Return the reason of a cordon for which nobody gave one: what it was made for."""
    if volume:
        return sentence("volume {volume} is frozen", volume=volume)
    if incident:
        return sentence("incident {incident}", incident=incident)
    return sentence("no reason given")


def cordon_reason(node: Node) -> str:
    """Return why a node is cordoned, as somebody wrote it; in words of ours if ours still stand there."""
    found = annotations_of(node)
    written = found.get(REASON, "")
    ours = our_reason(volume=found.get(CORDON_VOLUME, ""), incident=found.get(CORDON_INCIDENT, ""))
    return ours if written == ours else written


def uncordon_button(node: str, *, is_lifted: bool) -> Button:
    """Return the button that ends a lease: with its cordon, unless somebody else has lifted that."""
    label = "Remove its record" if is_lifted else sentence("Uncordon {node}", node=node)
    return Button(label=label, line=f"node uncordon {node}")


def describe_cordon(node: Node) -> str:
    """Return a cordoned node with why and by whom: `gpu-a02 (GPU fell off the bus, dana)`."""
    why = listed(filter(None, (cordon_reason(node), cordoned_by(node))))
    return sentence("{node} ({why})", node=node.metadata.name, why=why)


def against_uncordoning(node: Node, incidents: Iterable[Incident]) -> str:
    """Return why to uncordon the node is not to be proposed; empty if nothing speaks against it.

    `incidents` are the open ones of its cluster.
    """
    name, found = node.metadata.name, annotations_of(node)
    cause = found.get(CORDON_INCIDENT) if BY in found else None
    about = next((one for one in incidents if one.subject.node == name or one.id == cause), None)
    if about is not None:
        return sentence(
            "incident {incident} is open: {summary}", incident=about.id, summary=about.lead.summary
        )
    if not is_node_ready(node):
        return sentence("it is not ready")
    if gpus_out_of_service(node):
        return sentence("some of its GPUs are out of service")
    if BY not in found:
        return sentence("someone else cordoned it")
    if cause:
        return sentence(
            "it was cordoned for incident {incident}: first make sure that the fault has been repaired",
            incident=cause,
        )
    reason = cordon_reason(node)
    if not isinstance(reason, Sentence) and _HARDWARE.search(reason):
        return sentence("it was cordoned because of its hardware: {reason}", reason=reason)
    return ""


def lost_gpu(node: Node, incidents: Iterable[Incident]) -> str:
    """Return why what runs on the node's GPUs will probably die; empty if no GPU is known to be lost."""
    for incident in incidents:
        for member in incident.firing:
            if (
                incident.subject.node == node.metadata.name
                and member.name in GPU_LOST
                and not keeps_node(incident, member)
            ):
                return headline_of(member.summary)
    broken = sum(counts.unhealthy for counts in gpus_out_of_service(node).values())
    if not broken:
        return ""
    return counted(
        "{count:g} of its GPUs is out of service", "{count:g} of its GPUs are out of service", count=broken
    )
