"""Trainings that Kueue ends for another, and those that another took the place of, from Workloads' conditions. Pure.

Source: Kueue 0.19: the message of `Preempted` has the UID of the Workload that another is ended for.
"""

import re
from collections.abc import Sequence

from collectors.cluster.base import Condition
from collectors.cluster.indexes import by_managed
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import KUEUE_WORKLOADS
from collectors.cluster.kueue_workloads import KueueWorkload
from collectors.facts.sentences import counted, listed, sentence
from collectors.trainings.kueue_waits import taken_back
from collectors.trainings.training import Training
from commands.training.start_time import StartTime

_FOR = re.compile(r"\(UID: (?P<uid>[^,)\s]+)")


def ended_for(
    own: KueueWorkload, trainings: Sequence[Training], inventory: Inventory
) -> tuple[Training, ...]:
    """Return the trainings that Kueue ends so that this one can start, and that still have pods."""
    found = {
        of.id: of
        for one in inventory.all(KUEUE_WORKLOADS).values()
        if (taken := _taken(one)) is not None and _uid(taken) == own.metadata.uid
        for of in trainings
        if of.ranks and not set(by_managed(one)).isdisjoint(of.workloads)
    }
    return tuple(found.values())


def ending_text(others: Sequence[Training]) -> str:
    return counted(
        "{trainings} is ended for it: it starts when its pods are gone",
        "{trainings} are ended for it: it starts when their pods are gone",
        count=len(others),
        trainings=listed(map(_named, others), "and"),
    )


def when_they_are_gone(others: Sequence[Training], inventory: Inventory) -> StartTime:
    """Return when the last of their pods is gone: Kubernetes ends a pod at its deletion timestamp at the latest."""
    pods = [inventory.pods.get(f"{one.namespace}/{rank.pod}") for one in others for rank in one.ranks]
    ends = [pod.metadata.deletion_timestamp for pod in pods if pod is not None]
    known = [one for one in ends if one is not None]
    if not known or len(known) < len(ends):
        return StartTime(basis=sentence("nothing says how long that takes"))
    return StartTime(
        at=max(known),
        is_bound=True,
        basis=sentence("the grace period of {trainings} ends", trainings=listed(map(_named, others), "and")),
    )


def taken_text(own: KueueWorkload, trainings: Sequence[Training], inventory: Inventory) -> str:
    """Return that it was taken back, when, and for whom; empty for one that was not."""
    evicted = next(
        (one for one in own.status.conditions or () if one.type == "Evicted" and one.status == "True"), None
    )
    if evicted is None or not own.spec.active:
        return ""
    why = taken_back(evicted)
    if evicted.reason == "Preempted" and (by := _by(evicted, trainings, inventory)):
        why = sentence("{training} took its place", training=by)
    if evicted.last_transition_time is None:
        return sentence("Kueue took it back: {why}", why=why)
    return sentence("it ran until {at}: {why}", at=evicted.last_transition_time, why=why)


def _by(evicted: Condition, trainings: Sequence[Training], inventory: Inventory) -> str:
    uid = _uid(evicted)
    for one in inventory.all(KUEUE_WORKLOADS).values():
        if uid and one.metadata.uid == uid:
            keys = by_managed(one)
            of = next((each for each in trainings if not set(keys).isdisjoint(each.workloads)), None)
            return _named(of) if of is not None else f"{one.metadata.namespace}/{one.metadata.name}"
    return ""


def _taken(workload: KueueWorkload) -> Condition | None:
    return next(
        (one for one in workload.status.conditions or () if one.type == "Preempted" and one.status == "True"),
        None,
    )


def _uid(condition: Condition) -> str:
    found = _FOR.search(condition.message)
    return found["uid"] if found else ""


def _named(training: Training) -> str:
    if not training.owner:
        return training.shown
    return sentence("{training} of {owner}", training=training.shown, owner=training.owner)
