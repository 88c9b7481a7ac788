"""This file reads one pod as a rank of a training, and every end with an error that it has seen. Pure."""

import re
from collections.abc import Iterator
from datetime import datetime

from collectors.cluster.objects import ContainerStateTerminated, Pod
from collectors.cluster.resources import gpus_requested, holds_resources
from collectors.trainings.exit_codes import explain_exit
from collectors.trainings.training import Rank

_NUMBER = re.compile(r"[0-9]{1,9}")
_INDEXES = ("batch.kubernetes.io/job-completion-index", "yardmaster.io/index")


def rank_of(pod: Pod, role: str, index: int) -> Rank:
    """The rank as it is now."""
    reason, explanation = _trouble(pod)
    ended = _worst_end(pod)
    return Rank(
        role=role,
        index=index,
        pod=pod.metadata.name,
        node=pod.spec.node_name,
        phase=pod.status.phase,
        ready=is_ready(pod),
        gpus=sum(gpus_requested(pod.spec).values()) if holds_resources(pod) else 0,
        restarts=sum(one.restart_count for one in pod.status.container_statuses or ()),
        exit_code=ended.exit_code if ended else None,
        reason=reason,
        explanation=explanation,
        started=pod.status.start_time,
        finished=ended.finished_at if ended else None,
    )


def failures_of(pod: Pod, rank: Rank) -> Iterator[Rank]:
    """This rank once for each end with an error: of its containers now and before their last restart, of its pod."""
    statuses = (*(pod.status.init_container_statuses or ()), *(pod.status.container_statuses or ()))
    ends = [
        end
        for one in statuses
        for end in (one.last_state.terminated, one.state.terminated)
        if end is not None and end.exit_code != 0
    ]
    for end in ends:
        yield _failed(rank, end)
    if not ends and pod.status.phase == "Failed":  # thrown out before or without an end of its own
        reason, explanation = _thrown_out(pod)
        yield Rank(
            role=rank.role,
            index=rank.index,
            pod=rank.pod,
            node=rank.node,
            phase="Failed",
            reason=reason,
            explanation=explanation,
            started=rank.started,
            finished=_when_thrown_out(pod),
        )


def index_of(pod: Pod, otherwise: int) -> int:
    """The rank's number: the Job controller's index or our own, a StatefulSet's ordinal, or `otherwise`."""
    for said in (pod.metadata.labels or {}, pod.metadata.annotations or {}):
        for key in _INDEXES:
            if number := _NUMBER.fullmatch(said.get(key, "")):  # an annotation holds what its author likes
                return int(number[0])
    owned_by = {owner.kind for owner in pod.metadata.owner_references or ()}
    ordinal = pod.metadata.name.rpartition("-")[2]
    return int(ordinal) if "StatefulSet" in owned_by and ordinal.isdigit() else otherwise


def is_ready(pod: Pod) -> bool:
    return any(one.type == "Ready" and one.status == "True" for one in pod.status.conditions or ())


def _failed(rank: Rank, end: ContainerStateTerminated) -> Rank:
    return Rank(
        role=rank.role,
        index=rank.index,
        pod=rank.pod,
        node=rank.node,
        phase=rank.phase,
        restarts=rank.restarts,
        exit_code=end.exit_code,
        reason=end.reason,
        explanation=explain_exit(end.exit_code, end.reason),
        started=end.started_at,
        finished=end.finished_at,
    )


def _worst_end(pod: Pod) -> ContainerStateTerminated | None:
    """How it ended: the first error, or a clean end; None while it runs."""
    if holds_resources(pod):
        return None
    ends = [one.state.terminated for one in pod.status.container_statuses or () if one.state.terminated]
    bad = sorted((end for end in ends if end.exit_code), key=lambda end: str(end.finished_at))
    return next(iter(bad or ends), None)


def _trouble(pod: Pod) -> tuple[str, str]:
    """What keeps the rank from running, as Kubernetes' word and in words."""
    if pod.status.phase == "Failed":
        if end := _worst_end(pod):
            return end.reason, explain_exit(end.exit_code, end.reason)
        return _thrown_out(pod)
    statuses = (*(pod.status.init_container_statuses or ()), *(pod.status.container_statuses or ()))
    for one in statuses:
        waiting = one.state.waiting
        if waiting and waiting.reason not in ("", "ContainerCreating", "PodInitializing"):
            return waiting.reason, explain_exit(None, waiting.reason) or waiting.message
    for condition in pod.status.conditions or ():
        if condition.type == "PodScheduled" and condition.status == "False":
            return condition.reason, condition.message or explain_exit(None, condition.reason)
    return "", ""


def _thrown_out(pod: Pod) -> tuple[str, str]:
    for condition in pod.status.conditions or ():
        if condition.type == "DisruptionTarget" and condition.status == "True":
            return condition.reason, explain_exit(None, condition.reason) or condition.message
    return pod.status.reason, explain_exit(None, pod.status.reason) or pod.status.message


def _when_thrown_out(pod: Pod) -> datetime | None:
    for condition in pod.status.conditions or ():
        if condition.type == "DisruptionTarget":
            return condition.last_transition_time
    return pod.metadata.deletion_timestamp
