"""Ranks of a training, and their failures, from pods. Pure."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from collectors.cluster.base import Condition, KubernetesObject
from collectors.cluster.conditions import is_pod_ready
from collectors.cluster.gpu_claims import GpuClaims
from collectors.cluster.objects import ContainerStateTerminated, Pod
from collectors.cluster.resources import holds_resources
from collectors.trainings.exit_codes import explain_exit
from collectors.trainings.scheduler_words import explain_unschedulable
from collectors.trainings.training import Rank

_NUMBER = re.compile(r"[0-9]{1,9}")
_LAST = datetime.max.replace(tzinfo=UTC)
_INDEXES = ("batch.kubernetes.io/job-completion-index", "yardmaster.io/index")


def rank_of(pod: Pod, role: str, index: int, claims: GpuClaims) -> Rank:
    """Return the rank of a pod, as it is now. `claims` are those of its namespace."""
    reason, explanation = problem_of(pod)
    ended = _worst_end(pod)
    disruption = _disrupted(pod)
    return Rank(
        role=role,
        index=index,
        pod=pod.metadata.name,
        node=pod.spec.node_name,
        phase=pod.status.phase,
        ready=is_pod_ready(pod),
        gpus=claims.held(pod),
        restarts=sum(one.restart_count for one in pod.status.container_statuses or ()),
        exit_code=ended.exit_code if ended else None,
        reason=reason,
        explanation=explanation,
        words=_words(pod),
        disruption=disruption.reason if disruption else "",
        disrupted=disruption.last_transition_time if disruption else None,
        started=pod.status.start_time,
        finished=ended.finished_at if ended else None,
    )


def failures_of(pod: Pod, rank: Rank) -> Iterator[Rank]:
    """Yield the rank once for each end with an error: of a container, now or before its last restart, or of the pod."""
    statuses = (*(pod.status.init_container_statuses or ()), *(pod.status.container_statuses or ()))
    ends = [
        end
        for one in statuses
        for end in (one.last_state.terminated, one.state.terminated)
        if end is not None and end.exit_code != 0
    ]
    for end in ends:
        yield _failed(rank, end)
    if not ends and pod.status.phase == "Failed":  # disrupted before or without an end of its containers
        reason, explanation = _disruption(pod)
        yield Rank(
            role=rank.role,
            index=rank.index,
            pod=rank.pod,
            node=rank.node,
            phase="Failed",
            reason=reason,
            explanation=explanation,
            words=rank.words,
            disruption=rank.disruption,
            disrupted=rank.disrupted,
            started=rank.started,
            finished=_disrupted_at(pod),
        )


def pods_by_index(objects: Iterable[KubernetesObject]) -> tuple[tuple[int, Pod], ...]:
    """Return the pods among these objects, the oldest first, each with the index of its rank."""
    pods = sorted((one for one in objects if isinstance(one, Pod)), key=_age)
    return tuple((index_of(pod, number), pod) for number, pod in enumerate(pods))


def index_of(pod: Pod, otherwise: int) -> int:
    """Return the rank's index: the Job controller's or our own, a StatefulSet's ordinal, or `otherwise`."""
    for source in (pod.metadata.labels or {}, pod.metadata.annotations or {}):
        for key in _INDEXES:
            if number := _NUMBER.fullmatch(source.get(key, "")):  # an annotation may contain any text
                return int(number[0])
    owned_by = {owner.kind for owner in pod.metadata.owner_references or ()}
    ordinal = pod.metadata.name.rpartition("-")[2]
    return int(ordinal) if "StatefulSet" in owned_by and ordinal.isdigit() else otherwise


def _age(pod: Pod) -> tuple[datetime, str]:
    return pod.metadata.creation_timestamp or _LAST, pod.metadata.name


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
        words=rank.words,
        disruption=rank.disruption,
        disrupted=rank.disrupted,
        started=end.started_at,
        finished=end.finished_at,
    )


def _worst_end(pod: Pod) -> ContainerStateTerminated | None:
    """Return the first end with an error, or else a clean end; None while the pod runs."""
    if holds_resources(pod):
        return None
    ends = [one.state.terminated for one in pod.status.container_statuses or () if one.state.terminated]
    bad = sorted((end for end in ends if end.exit_code), key=lambda end: str(end.finished_at))
    return next(iter(bad or ends), None)


def problem_of(pod: Pod) -> tuple[str, str]:
    """Return what keeps the rank from running: Kubernetes' reason, and an explanation."""
    if pod.status.phase == "Failed":
        if end := _worst_end(pod):
            return end.reason, explain_exit(end.exit_code, end.reason)
        return _disruption(pod)
    statuses = (*(pod.status.init_container_statuses or ()), *(pod.status.container_statuses or ()))
    for one in statuses:
        waiting = one.state.waiting
        if waiting and waiting.reason not in ("", "ContainerCreating", "PodInitializing"):
            return waiting.reason, explain_exit(None, waiting.reason) or waiting.message
    for condition in pod.status.conditions or ():
        if condition.type == "PodScheduled" and condition.status == "False":
            message = explain_unschedulable(condition.message)
            return condition.reason, message or explain_exit(None, condition.reason)
    return "", ""


def _disruption(pod: Pod) -> tuple[str, str]:
    for condition in pod.status.conditions or ():
        if condition.type == "DisruptionTarget" and condition.status == "True":
            return condition.reason, explain_exit(None, condition.reason) or condition.message
    return pod.status.reason, explain_exit(None, pod.status.reason) or pod.status.message


def _words(pod: Pod) -> str:
    """Return Kubernetes' own words on why it was ended."""
    if (disruption := _disrupted(pod)) is not None:
        return disruption.message
    return pod.status.message if pod.status.phase == "Failed" else ""


def _disrupted(pod: Pod) -> Condition | None:
    return next(
        (
            one
            for one in pod.status.conditions or ()
            if one.type == "DisruptionTarget" and one.status == "True"
        ),
        None,
    )


def _disrupted_at(pod: Pod) -> datetime | None:
    for condition in pod.status.conditions or ():
        if condition.type == "DisruptionTarget":
            return condition.last_transition_time
    return pod.metadata.deletion_timestamp
