"""The quota that a training lacks in Kueue, in plain words, from its ClusterQueue and its message. Pure.

Source: Kueue 0.19, `pkg/scheduler/flavorassigner`: what it says of each flavor stands in one message, after commas.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from collectors.cluster.conditions import true_condition
from collectors.cluster.kueue_workloads import KueueWorkload
from collectors.cluster.resources import gpu_resource, parse_quantity
from collectors.facts.sentences import listed, sentence
from collectors.trainings.wait_reasons import WaitKind, WaitReason

Reserved = Mapping[tuple[str, str], float]  # by flavor and resource
_MORE = re.compile(
    r"insufficient unused quota(?: in cohort)? for (?P<resource>\S+) in flavor (?P<flavor>[^,;\s]+), "
    r"(?P<more>[^,;\s]+) more needed"
)
_TAINT = re.compile(
    r"untolerated taint \{(?P<key>\S+) (?P<value>\S*) \S+ [^}]*\} in flavor (?P<flavor>[^,;\s]+)"
)
_MOST = re.compile(
    r"insufficient quota for (?P<resource>\S+) in flavor (?P<flavor>[^,;\s]+), "
    r"(?:previously considered podsets requests \((?P<before>[^)]+)\) \+ )?"
    r"current podset request \((?P<asked>[^)]+)\) > maximum capacity \((?P<most>[^)]+)\)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorQuota:
    """GPUs of a flavor in a ClusterQueue. `borrows` is None where nothing limits it, or there is no cohort."""

    flavor: str
    resource: str
    own: float
    borrows: float | None
    used: float | None


def reserved_in(name: str, workloads: Iterable[KueueWorkload]) -> Reserved:
    """Return what is reserved in a ClusterQueue for these workloads."""
    found: defaultdict[tuple[str, str], float] = defaultdict(float)
    for one in workloads:
        admission = one.status.admission
        if admission is None or admission.cluster_queue != name or is_finished(one):
            continue
        for assigned in admission.pod_set_assignments or ():
            for resource, amount in (assigned.resource_usage or {}).items():
                found[(assigned.flavors or {}).get(resource, ""), resource] += parse_quantity(amount)
    return found


def is_finished(workload: KueueWorkload) -> bool:
    return true_condition(workload.status.conditions, "Finished") is not None


def gpu_quotas(queue: Mapping[str, Any] | None, admitted: Reserved) -> list[FlavorQuota]:
    """Return the quotas of GPUs in a ClusterQueue.

    `admitted`: what its workloads have: Kueue writes the sum into the queue's status up to seconds later.
    """
    spec, status = (queue or {}).get("spec") or {}, (queue or {}).get("status") or {}
    used = dict(admitted)
    for usage in status.get("flavorsReservation") or status.get("flavorsUsage") or ():
        for one in usage.get("resources") or ():
            key = (usage["name"], one["name"])
            used[key] = max(used.get(key, 0), parse_quantity(one.get("total") or 0))
    return [
        FlavorQuota(
            flavor=flavor["name"],
            resource=one["name"],
            own=parse_quantity(one.get("nominalQuota") or 0),
            borrows=parse_quantity(one["borrowingLimit"]) if one.get("borrowingLimit") else None,
            used=used.get((flavor["name"], one["name"])),
        )
        for group in spec.get("resourceGroups") or ()
        for flavor in group.get("flavors") or ()
        for one in flavor.get("resources") or ()
        if gpu_resource(one["name"])
    ]


def cohort_of(queue: Mapping[str, Any] | None) -> str:
    spec = (queue or {}).get("spec") or {}
    return str(spec.get("cohortName") or spec.get("cohort") or "")


def in_plain_words(
    reason: WaitReason,
    message: str,
    name: str,
    queue: Mapping[str, Any] | None,
    admitted: Reserved,
) -> str:
    """Return what is lacking; empty where the message or the queue does not say it."""
    quotas = {(one.flavor, one.resource): one for one in gpu_quotas(queue, admitted)}
    if reason.kind is WaitKind.TOO_LARGE:
        return next(_too_much(message, name, quotas, cohort_of(queue)), "")
    if reason.kind is WaitKind.QUOTA:
        return listed(_of_flavors(message, name, quotas, cohort_of(queue)), ";")
    return ""


def _too_much(
    message: str, name: str, quotas: Mapping[tuple[str, str], FlavorQuota], cohort: str
) -> Iterator[str]:
    for found in _MOST.finditer(message):
        quota = quotas.get((found["flavor"], found["resource"]))
        if quota is None:
            continue
        asked = parse_quantity(found["asked"]) + parse_quantity(found["before"] or 0)
        most = parse_quantity(found["most"])
        if cohort:
            yield sentence(
                "it asks for {asked:g} {resource}, and queue `{queue}` may have {most:g} at most ({own:g} of its own, "
                "the rest of cohort `{cohort}`): it never starts as it is",
                asked=asked,
                resource=quota.resource,
                queue=name,
                most=most,
                own=quota.own,
                cohort=cohort,
            )
        else:
            yield sentence(
                "it asks for {asked:g} {resource}, and queue `{queue}` has {most:g}: it never starts as it is",
                asked=asked,
                resource=quota.resource,
                queue=name,
                most=most,
            )


def _of_flavors(
    message: str, name: str, quotas: Mapping[tuple[str, str], FlavorQuota], cohort: str
) -> Iterator[str]:
    several = len({flavor for flavor, _ in quotas}) > 1
    for found in _MORE.finditer(message):
        quota = quotas.get((found["flavor"], found["resource"]))
        if quota is None or quota.used is None:
            continue
        more = found["more"]
        if several:
            yield sentence(
                "of flavor `{flavor}`, {used:g} of {own:g} {resource} are in use: {more} more are needed",
                flavor=quota.flavor,
                used=quota.used,
                own=quota.own,
                resource=quota.resource,
                more=more,
            )
        elif cohort and quota.borrows is not None:
            yield sentence(
                "queue `{queue}` uses {used:g} {resource} of its own {own:g}, and may borrow {limit:g} of cohort "
                "`{cohort}`: {more} more are needed",
                queue=name,
                used=quota.used,
                resource=quota.resource,
                own=quota.own,
                limit=quota.borrows,
                cohort=cohort,
                more=more,
            )
        elif cohort:
            yield sentence(
                "queue `{queue}` uses {used:g} {resource} of its own {own:g}, and cohort `{cohort}` lends what others "
                "leave unused: {more} more are needed",
                queue=name,
                used=quota.used,
                resource=quota.resource,
                own=quota.own,
                cohort=cohort,
                more=more,
            )
        else:
            yield sentence(
                "queue `{queue}` has {own:g} {resource}, and {used:g} are in use: {more} more are needed",
                queue=name,
                own=quota.own,
                resource=quota.resource,
                used=quota.used,
                more=more,
            )
    for found in _TAINT.finditer(message):
        yield sentence(
            "flavor `{flavor}` is of nodes with taint {taint}, which it does not tolerate",
            flavor=found["flavor"],
            taint=f"{found['key']}={found['value']}" if found["value"] else found["key"],
        )


def most_of(message: str) -> float | None:
    """Return how much the queue may have at most, as Kueue says; None where it does not."""
    found = [parse_quantity(one["most"]) for one in _MOST.finditer(message) if gpu_resource(one["resource"])]
    return max(found, default=None)
