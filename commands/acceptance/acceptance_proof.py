"""The proof that a node is accepted now: its newest acceptance, held against the node as it is. Pure."""

from datetime import datetime

from collectors.cluster.objects import Node
from collectors.facts.sentences import listed, sentence, word
from commands.acceptance.acceptance import Acceptance, AcceptanceState


def is_accepted(node: Node, found: Acceptance | None) -> bool:
    """Whether the proof holds for this node, since its last boot."""
    return found is not None and found.is_proof and _is_same(node, found)


def unaccepted(node: Node, found: Acceptance | None) -> str:
    """Return why a node is in service without a proof; empty where nothing is known, or it is accepted.

    Of a node that was never accepted nothing is said: most fleets begin without.
    """
    if found is None or node.spec.unschedulable:
        return ""
    match found.state:
        case AcceptanceState.RETURNED:
            return sentence("not tested before it returned")
        case AcceptanceState.FAILED:
            return sentence("in service, and failed its test")
        case AcceptanceState.SLOW:
            return sentence("in service, and slow when it was tested")
        case AcceptanceState.WITHDRAWN:
            return sentence("its acceptance was withdrawn")
        case AcceptanceState.UNTESTED:
            return sentence("in service, and could not be tested")
        case AcceptanceState.ACCEPTED if node.metadata.uid != found.uid:
            return sentence("not accepted: it was replaced")
        case AcceptanceState.ACCEPTED if not _is_same(node, found):
            return sentence("not accepted since it was rebooted")
    return ""


def cordoned_gpu_text(cordon: str, node: Node, found: Acceptance | None) -> str:
    """Return what is known of a cordoned GPU, with the verdict of its newest test."""
    return cordon if found is None else listed((cordon, tested_text(node, found)))


def tested_text(node: Node, found: Acceptance) -> str:
    """Return what a test says of a node or a GPU that is out of service, as the node is now."""
    at = found.ended_at or found.at
    if is_accepted(node, found):
        return sentence("accepted {at}", at=at)
    if found.is_proof:
        return (
            sentence("not accepted: it was replaced")
            if node.metadata.uid != found.uid
            else sentence("not accepted since it was rebooted")
        )
    return sentence("last tested {at}: {state}", at=at, state=word(found.state.value))


def acceptance_text(node: Node, found: Acceptance | None) -> str:
    """Return what is known of a node's acceptance, for its own page; empty if it never had one."""
    if found is None:
        return ""
    if said := unaccepted(node, found):
        return said
    if is_accepted(node, found):
        return sentence("accepted {at}, suite {suite}", at=found.ended_at or found.at, suite=found.suite)
    return tested_text(node, found)


def listed_verdict(node: Node, found: Acceptance | None, since: datetime | None) -> str:
    """Return what the list of nodes says: of one in service why it has no proof, of one that is out its newest test.

    `since`: when it was taken out, where that is known. An older test is not about it.
    """
    if found is None or not node.spec.unschedulable:
        return unaccepted(node, found)
    return tested_text(node, found) if since is not None and found.at >= since else ""


def _is_same(node: Node, found: Acceptance) -> bool:
    return found.is_of(uid=node.metadata.uid, boot_id=node.status.node_info.boot_id)
