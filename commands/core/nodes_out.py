"""Nodes out of service: why and since when, as the cluster shows it, whoever made them so. Pure."""

from datetime import datetime

from collectors.cluster.conditions import is_node_ready
from collectors.cluster.objects import Node, Taint
from collectors.facts.name_patterns import fits_any
from collectors.facts.sentences import Sentence, sentence
from commands.core.cordoned_nodes import AT, BY, UNTIL, annotations_of, cordon_reason, stands
from commands.gates.budget import HOUR

OUR_TAINTS = "yardmaster.io/taints"  # annotation: the taints that we set, as key:effect, separated by commas
# Taints of a fault, by Kubernetes, a cloud provider, an autoscaler or a network agent. A node may have others for good.
OF_A_FAULT = (
    "node.kubernetes.io/*",
    "node.cloudprovider.kubernetes.io/*",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
    "karpenter.sh/disrupted",
    "aws-node-termination-handler/*",
    "node.cilium.io/agent-not-ready",
)
# What a cordon and the Ready condition say already.
_SAID = (
    "node.kubernetes.io/unschedulable",
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
)
_KEEPS_PODS_OFF = ("NoSchedule", "NoExecute")


def why_out(node: Node) -> str:
    """Return why a node is out of service; empty for one that takes pods."""
    if node.spec.unschedulable:
        by = annotations_of(node).get(BY, "")
        return sentence("cordoned by {who}", who=by) if by else sentence("cordoned by somebody else")
    if not is_node_ready(node):
        return sentence("not ready")
    taint = next(iter(taints_of_fault(node)), None)
    return why_tainted(taint) if taint is not None else ""


def who_holds(node: Node) -> str:
    """Return why a node is out of service, with what would free it: the reason and the end of a cordon of ours."""
    why = why_out(node)
    if not stands(node):
        return why
    until, reason = _moment(annotations_of(node).get(UNTIL, "")), cordon_reason(node)
    if until is None:
        return sentence("{why} ({reason})", why=why, reason=reason)
    return sentence("{why} until {until} ({reason})", why=why, until=until, reason=reason)


def why_tainted(taint: Taint) -> Sentence:
    return sentence("tainted {taint}", taint=_written(taint))


def taints_of_fault(node: Node) -> list[Taint]:
    """Return the taints that keep pods off because something is wrong: ours, and those of known controllers."""
    ours = own_taints(node)
    return [
        one
        for one in node.spec.taints or ()
        if one.effect in _KEEPS_PODS_OFF
        and one.key not in _SAID
        and (fits_any(one.key, OF_A_FAULT) or _written(one) in ours)
    ]


def own_taints(node: Node) -> list[str]:
    """Return the taints of the node that we set, as key:effect."""
    ours = annotations_of(node).get(OUR_TAINTS, "").split(",")
    return [said for one in node.spec.taints or () if (said := _written(one)) in ours]


def has_taint_of_ours(node: Node) -> bool:
    """Whether a taint that we set keeps pods off the node."""
    ours = own_taints(node)
    return any(_written(one) in ours for one in taints_of_fault(node))


def _written(taint: Taint) -> str:
    return f"{taint.key}:{taint.effect}"


def ready_since(node: Node) -> datetime | None:
    """Return since when its Ready condition is as it is."""
    return next(
        (one.last_transition_time for one in node.status.conditions or () if one.type == "Ready"), None
    )


def out_since(node: Node) -> datetime | None:
    """Return since when the node is out of service, as far as the cluster says it; None for one in service."""
    if not node.spec.unschedulable:
        if not is_node_ready(node):
            return ready_since(node)
        return next((one.time_added for one in taints_of_fault(node)), None)
    return _moment(annotations_of(node).get(AT, "")) or _cordoned_at(node)


def _moment(written: str) -> datetime | None:
    """Return a moment of an annotation; None for one that somebody else wrote in another form."""
    try:
        return datetime.fromisoformat(written) if written else None
    except ValueError:
        return None


def _cordoned_at(node: Node) -> datetime | None:
    """Return when Kubernetes saw the cordon: it taints the node then."""
    return next((one.time_added for one in node.spec.taints or () if one.key == _SAID[0]), None)


def was_disrupted_lately(node: Node, now: datetime) -> bool:
    """Whether the node went out of service in the last hour, or became ready again, as after a reboot.

    One that joined the cluster in that time was not disrupted.
    """
    since, joined = out_since(node) or ready_since(node), node.metadata.creation_timestamp
    if since is None or now - since >= HOUR:
        return False
    return joined is None or since - joined >= HOUR
