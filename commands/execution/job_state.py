"""State of a Job as the API shows it: how it ended, whether it runs, and why it does not begin. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collectors.facts.one_line import SENTENCE, one_line
from collectors.facts.sentences import Sentence, sentence

_PULLING = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError")
_SURE = ("InvalidImageName", "ErrImageNeverPull")  # does not pass by itself
_BEGINNING = ("", "ContainerCreating", "PodInitializing")
_CONTROLLER_UID = "batch.kubernetes.io/controller-uid"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEnd:
    """How a Job ended. `exit_code` is that of its container, None if it never ran to its end."""

    is_success: bool
    reason: str = ""
    exit_code: int | None = None
    is_late: bool = False  # it ran, and was not done within its time


@dataclass(frozen=True, slots=True, kw_only=True)
class NotBegun:
    """Why no container of the Job runs yet. `is_final`: it will not pass by itself."""

    reason: str
    is_final: bool = False


def job_end_of(job: Mapping[str, Any], pods: Sequence[Mapping[str, Any]]) -> JobEnd | None:
    """Return how the Job has ended, None while it has not."""
    conditions = (job.get("status") or {}).get("conditions") or ()
    by_type = {one.get("type"): one for one in conditions if one.get("status") == "True"}
    code = next((code for pod in pods if (code := _exit_code(pod)) is not None), None)
    if "Complete" in by_type:
        return JobEnd(is_success=True, exit_code=code)
    if (failed := by_type.get("Failed")) is None:
        return None
    is_late = failed.get("reason") == "DeadlineExceeded" and has_begun(pods)
    return JobEnd(is_success=False, reason=_why_failed(failed, pods, code), exit_code=code, is_late=is_late)


def has_begun(pods: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a container of the Job has run."""
    return any(
        (pod.get("status") or {}).get("phase") in ("Running", "Succeeded")
        or any("running" in state or "terminated" in state for state in map(_state, _statuses(pod)))
        for pod in pods
    )


def why_not_begun(
    job: Mapping[str, Any], pods: Sequence[Mapping[str, Any]], events: Sequence[Mapping[str, Any]]
) -> NotBegun:
    """Return what keeps the Job's container from running, as its pod, the scheduler and its events say."""
    if not pods:
        return _why_no_pod(job, events)
    for status in (one for pod in pods for one in _statuses(pod)):
        waiting = _state(status).get("waiting") or {}
        reason, message = str(waiting.get("reason", "")), _line(waiting.get("message"))
        if reason in _PULLING:
            return NotBegun(
                reason=sentence(
                    "the image {image} cannot be pulled ({reason}): {message}",
                    image=_line(status.get("image")),
                    reason=reason,
                    message=message or sentence("no message"),
                ),
                is_final=reason in _SURE,
            )
        if reason not in _BEGINNING:
            return NotBegun(
                reason=sentence(
                    "its container does not start ({reason}): {message}",
                    reason=_line(reason),
                    message=message or sentence("no message"),
                )
            )
    for condition in (one for pod in pods for one in (pod.get("status") or {}).get("conditions") or ()):
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return NotBegun(
                reason=sentence(
                    "the scheduler does not place its pod: {message}", message=_line(condition.get("message"))
                )
            )
    return NotBegun(reason=sentence("the kubelet has not started its pod"))


def selector_of(job: Mapping[str, Any]) -> str:
    """Return the label selector of the pods of exactly this Job."""
    return f"{_CONTROLLER_UID}={job['metadata'].get('uid', '')}"


def _why_no_pod(job: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> NotBegun:
    uid = job["metadata"].get("uid")
    refused = [
        one
        for one in events
        if one.get("reason") == "FailedCreate" and (one.get("involvedObject") or {}).get("uid") == uid
    ]
    if not refused:
        return NotBegun(reason=sentence("its pod has not been created"))
    message = _line(refused[-1].get("message"))
    if "PodSecurity" in message:
        said: Sentence = sentence(
            "the namespace {namespace} forbids its pod: {message}. Label the namespace "
            "`pod-security.kubernetes.io/enforce=privileged`",
            namespace=job["metadata"]["namespace"],
            message=message,
        )
        return NotBegun(reason=said, is_final=True)
    said = sentence("its pod is refused: {message}", message=message)
    return NotBegun(reason=said, is_final="forbidden" in message and "quota" not in message)


def _why_failed(
    condition: Mapping[str, Any], pods: Sequence[Mapping[str, Any]], code: int | None
) -> Sentence:
    if condition.get("reason") == "DeadlineExceeded":
        return sentence("it did not finish in time, and was ended")
    if code is not None:
        return sentence("it ended with code {code}", code=code)
    for pod in pods:
        status = pod.get("status") or {}
        if status.get("phase") == "Failed":
            said = ": ".join(filter(None, (_line(status.get("reason")), _line(status.get("message")))))
            return sentence("its pod failed ({why})", why=said or sentence("no reason"))
    return sentence("it failed: {message}", message=_line(condition.get("message")))


def _exit_code(pod: Mapping[str, Any]) -> int | None:
    for status in (pod.get("status") or {}).get("containerStatuses") or ():
        ended = _state(status).get("terminated") or {}
        if isinstance(code := ended.get("exitCode"), int):
            return code
    return None


def _statuses(pod: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    status = pod.get("status") or {}
    return (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ()))


def _state(status: Mapping[str, Any]) -> Mapping[str, Any]:
    return status.get("state") or {}


def _line(text: object) -> str:
    return one_line(str(text or ""), SENTENCE)
