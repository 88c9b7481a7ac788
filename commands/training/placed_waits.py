"""Reasons why pods that have a node do not start: how many, the kubelet's words, and what they hold meanwhile. Pure."""

import re
from collections.abc import Iterator, Sequence

from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Event, Pod
from collectors.facts.sentences import counted, listed, sentence
from collectors.pod_troubles import events_of, last_event, waiting_texts
from collectors.trainings.training import Training
from collectors.trainings.wait_reasons import WaitKind, WaitReason

_WAITS = (
    (re.compile(r".*(?:Image|ErrRegistry|Manifest).*"), WaitKind.IMAGE),
    (re.compile(r"CreateContainerConfigError|CreateContainerError"), WaitKind.CONFIG),
    (re.compile(r"CrashLoopBackOff"), WaitKind.CRASHING),
)
_EVENTS = (
    (re.compile(r"FailedMount|FailedAttachVolume|FailedMapVolume|VolumeFailed.*"), WaitKind.VOLUME),
    (re.compile(r"FailedCreatePodSandBox|NetworkNotReady|.*Sandbox.*"), WaitKind.NETWORK),
    (re.compile(r".*Image.*|Failed"), WaitKind.IMAGE),
)
_PULLS = re.compile(r"Failed.*Image.*|Failed to pull image.*|.*[Pp]ull.*")


def not_started(training: Training, placed: Sequence[Pod], inventory: Inventory) -> Iterator[WaitReason]:
    """Yield why the first of them does not start, how many are like it, and what its events say besides."""
    troubles = {
        pod.key: found
        for pod in placed
        if pod.status.phase in ("Pending", "Running") and (found := _trouble(pod, inventory)) is not None
    }
    if not troubles:
        starting = sum(pod.status.phase == "Pending" for pod in placed)
        if starting:
            text = counted(
                "{count} task has a node, and its container is being started",
                "{count} tasks have nodes, and their containers are being started",
                count=starting,
            )
            yield WaitReason(kind=WaitKind.STARTING, text=text)
        return
    first = next(pod for pod in placed if pod.key in troubles)
    kind, words = troubles[first.key]
    alike = sum(of is kind for of, _ in troubles.values())
    yield WaitReason(kind=kind, text=_of_pod(first, words))
    if alike > 1:
        text = sentence("{count} of {tasks} tasks wait like it", count=alike, tasks=training.wanted)
        yield WaitReason(kind=kind, text=text)
    if kind is WaitKind.IMAGE and (said := _said_of_pull(first, words, inventory)):
        yield WaitReason(kind=kind, text=sentence("its events say: {words}", words=listed(said, ";")))
    if training.gpus:
        text = counted(
            "meanwhile it holds {count:g} GPU", "meanwhile it holds {count:g} GPUs", count=training.gpus
        )
        yield WaitReason(kind=kind, text=text)


def _trouble(pod: Pod, inventory: Inventory) -> tuple[WaitKind, str] | None:
    for words in waiting_texts(pod):
        reason = words.partition(":")[0]
        return next((kind for pattern, kind in _WAITS if pattern.fullmatch(reason)), WaitKind.STARTING), words
    if pod.status.phase == "Pending" and (event := last_event(pod, inventory)) is not None:
        kind = next((kind for pattern, kind in _EVENTS if pattern.fullmatch(event.reason)), WaitKind.STARTING)
        return kind, f"{event.reason}: {event.message}"
    return None


def _said_of_pull(pod: Pod, words: str, inventory: Inventory) -> list[str]:
    """Return what its events say of the pull, each once: a missing pull secret, and the registry's refusal."""
    found: Sequence[Event] = sorted(events_of(pod, inventory), key=lambda event: str(event.last_seen))
    said = {
        event.message: None
        for event in found
        if _PULLS.fullmatch(event.reason) or (event.reason == "Failed" and _PULLS.fullmatch(event.message))
    }
    return [message for message in said if message and message not in words][-3:]


def _of_pod(pod: Pod, words: str) -> str:
    return sentence("{pod} on {node}: {words}", pod=pod.metadata.name, node=pod.spec.node_name, words=words)
