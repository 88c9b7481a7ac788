"""Reasons why Kueue does not start a training, from its Workload's conditions. Pure. Source: Kueue 0.19 and before.

New versions give each reason a name. Older ones write `Pending` or `Inadmissible`, and the message tells them apart.
"""

import re
from collections.abc import Iterator
from datetime import datetime

from collectors.cluster.base import Condition
from collectors.cluster.kueue_workloads import KueueWorkload
from collectors.facts.sentences import listed, sentence, word
from collectors.trainings.wait_reasons import WaitKind, WaitReason

_NAMED = {
    "WaitingForQuota": WaitKind.QUOTA,
    "NoMatchingFlavor": WaitKind.FLAVOR,
    "ExceedsMaxQuota": WaitKind.TOO_LARGE,
    "TopologyPlacementFailed": WaitKind.TOPOLOGY,
    "WaitingForPreemptedWorkloads": WaitKind.PREEMPTING,
    "WaitingForPodsReady": WaitKind.OTHERS_READY,
    "PendingEvaluation": WaitKind.TURN,
    "Suspended": WaitKind.QUEUE_STOPPED,
    "AdmissionGated": WaitKind.GATE,
}
# The first that is in the message is what it means.
_SAID = (
    (
        re.compile(r"(?i)(?:local|cluster)queue \S+ (?:doesn't|does not) exist|not found"),
        WaitKind.QUEUE_MISSING,
    ),
    (re.compile(r"(?i)(?:is|are) (?:stopped|inactive|terminating)|stopp?ed|on hold"), WaitKind.QUEUE_STOPPED),
    (re.compile(r"(?i)namespace (?:doesn't|does not) match"), WaitKind.NOT_ALLOWED),
    (re.compile(r"(?i)limitrange|resources? (?:validation|exceed)|requests exceed"), WaitKind.REFUSED),
    (re.compile(r"(?i)waiting for all admitted workloads|podsready condition"), WaitKind.OTHERS_READY),
    (re.compile(r"(?i)pending the preemption|preempting"), WaitKind.PREEMPTING),
)
_QUOTA = re.compile(
    r"insufficient (?P<unused>unused )?quota(?: in cohort)? for (?P<resource>\S+?)(?: in flavor (?P<flavor>[^,;()]+?))?"
    r"(?=[,;(]|$)"
)
_NEVER = re.compile(r"maximum capacity|exceeds? .*(?:nominal|max)", re.IGNORECASE)
_NO_FLAVOR = re.compile(
    r"(?i)untolerated taint|node ?affinity|unavailable in clusterqueue|flavor \S+ not found|doesn't match"
)
_TOPOLOGY = re.compile(r"(?i)topology|TopologyAwareScheduling")
_TAKEN_BACK = {
    "PodsReadyTimeout": "its pods were not ready in time",
    "Preempted": "another took its place",
    "NodeFailures": "one of its nodes failed",
    "AdmissionCheck": "an admission check took it back",
    "ClusterQueueStopped": "its queue was stopped",
    "LocalQueueStopped": "its queue was stopped",
}


def kueue_reason(workload: KueueWorkload, now: datetime) -> WaitReason | None:
    """Return why Kueue does not start it; None once it is admitted, or has ended."""
    conditions = {one.type: one for one in workload.status.conditions or ()}
    if not workload.spec.active:
        return _not_active(conditions)
    if _holds(conditions, "Finished") or _holds(conditions, "Admitted"):
        return None
    state = workload.status.requeue_state
    if state is not None and state.requeue_at is not None and state.requeue_at > now:
        return WaitReason(
            kind=WaitKind.REQUEUED,
            text=sentence(
                "{why}; Kueue tries again, not before {at}", why=_taken_back(conditions), at=state.requeue_at
            ),
        )
    if _holds(conditions, "QuotaReserved"):
        return WaitReason(kind=WaitKind.ADMISSION_CHECK, text=_checks(workload, conditions.get("Admitted")))
    waits = conditions.get("QuotaReserved")
    if waits is None:
        return WaitReason(kind=WaitKind.TURN, text=sentence("Kueue has not looked at it yet"))
    return _without_quota(waits)


def _without_quota(waits: Condition) -> WaitReason:
    kind = _NAMED.get(waits.reason)
    said = _kind_said(waits.message)
    if kind is None or (kind is WaitKind.QUOTA and said is WaitKind.TOO_LARGE):
        kind = said
    resource = next((found["resource"] for found in _QUOTA.finditer(waits.message)), "")
    words = waits.message or waits.reason
    return WaitReason(kind=kind, resource=resource, text=sentence("Kueue says: {words}", words=words))


def _kind_said(message: str) -> WaitKind:
    """Return what an older message means: it waits as long as one flavor may have room."""
    if kind := next((kind for pattern, kind in _SAID if pattern.search(message)), None):
        return kind
    flavors = list(_flavors(message))
    for kind in (WaitKind.QUOTA, WaitKind.TOPOLOGY, WaitKind.TOO_LARGE, WaitKind.FLAVOR):
        if kind in flavors:
            return kind
    return WaitKind.UNKNOWN


def _flavors(message: str) -> Iterator[WaitKind]:
    """Yield what is wrong with each flavor: one with which something is wrong for good does not wait for quota."""
    wrong: dict[str, WaitKind] = {}
    begins = [found.start() for found in _QUOTA.finditer(message)]
    for found in _QUOTA.finditer(message):
        ends = next((at for at in begins if at > found.start()), len(message))
        rest = message[found.start() : ends]
        flavor = found["flavor"] or ""
        never = not found["unused"] and bool(_NEVER.search(rest))
        if never:
            wrong[flavor] = WaitKind.TOO_LARGE
        else:
            wrong.setdefault(flavor, WaitKind.QUOTA)
    yield from wrong.values()
    if _TOPOLOGY.search(message):
        yield WaitKind.TOPOLOGY
    if _NO_FLAVOR.search(message):
        yield WaitKind.FLAVOR


def _not_active(conditions: dict[str, Condition]) -> WaitReason:
    for type_ in ("DeactivationTarget", "Evicted"):
        found = conditions.get(type_)
        if (
            found is not None
            and found.status == "True"
            and found.reason not in ("Deactivated", "InactiveWorkload")
        ):
            said = listed(filter(None, (found.reason, found.message)), ":")
            return WaitReason(
                kind=WaitKind.DEACTIVATED,
                text=sentence("Kueue has given it up: {why}", why=said),
            )
    return WaitReason(
        kind=WaitKind.SUSPENDED, text=sentence("its Workload in Kueue is not active: somebody suspended it")
    )


def _taken_back(conditions: dict[str, Condition]) -> str:
    evicted = conditions.get("Evicted")
    if evicted is None or evicted.status != "True":
        return sentence("it was put back into its queue")
    return taken_back(evicted)


def taken_back(evicted: Condition) -> str:
    """Return why Kueue took it back, from its condition `Evicted`."""
    known = _TAKEN_BACK.get(evicted.reason)
    return word(known) if known else listed(filter(None, (evicted.reason, evicted.message)), ":")


def _checks(workload: KueueWorkload, admitted: Condition | None) -> str:
    checks = [one for one in workload.status.admission_checks or () if one.state != "Ready"]
    if not checks:
        words = admitted.message if admitted is not None else ""
        return sentence("it has its quota, and an admission check is awaited: {words}", words=words or "-")
    said = (
        listed(
            filter(None, (sentence("`{check}` is {state}", check=one.name, state=one.state), one.message)),
            ":",
        )
        for one in checks
    )
    return sentence("it has its quota, and admission checks are awaited: {checks}", checks=listed(said, ";"))


def _holds(conditions: dict[str, Condition], type_: str) -> bool:
    return type_ in conditions and conditions[type_].status == "True"
