"""The pods of a node that is drained: which stay and why, whose the others are, and what is lost with them. Pure."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from enum import Enum, auto
from typing import Any

from collectors.cluster.indexes import kind_in_api
from collectors.facts.sentences import Sentence, counted, listed, sentence
from collectors.facts.topology import PodFacts, Topology
from collectors.facts.workload_keys import workload_key
from commands.execution.disruption import Disruption

NAMED_IN_NOTES = 8  # pods and trainings in a note

_MIRROR = "kubernetes.io/config.mirror"  # the annotation of a static pod, which only its kubelet can end


class _Stays(Enum):
    """Why a drain leaves a pod on its node."""

    STATIC = auto()
    FINISHED = auto()
    OF_DAEMON_SET = auto()


def why_stays(pod: Mapping[str, Any]) -> _Stays | None:
    """Return why a drain leaves the pod on its node; None if it is evicted."""
    if _MIRROR in (pod["metadata"].get("annotations") or {}):
        return _Stays.STATIC
    if pod.get("status", {}).get("phase") in ("Succeeded", "Failed"):
        return _Stays.FINISHED
    owner = _controller(pod)
    return _Stays.OF_DAEMON_SET if owner is not None and owner["kind"] == "DaemonSet" else None


def _left(number: int, reason: _Stays) -> Sentence:
    match reason:
        case _Stays.STATIC:
            return sentence("{number} static", number=number)
        case _Stays.FINISHED:
            return sentence("{number} finished", number=number)
        case _Stays.OF_DAEMON_SET:
            return sentence("{number} of a DaemonSet", number=number)


def _controller(pod: Mapping[str, Any]) -> Mapping[str, Any] | None:
    owners: Sequence[Mapping[str, Any]] = pod["metadata"].get("ownerReferences") or ()
    return next((owner for owner in owners if owner.get("controller")), None)


def disruptions_of(pods: Sequence[Mapping[str, Any]], topology: Topology) -> tuple[Disruption, ...]:
    """Return the trainings and workloads whose pods are evicted, each once, those with the most GPUs first."""
    users = users_of(pods, topology)
    by_name: dict[str, list[PodFacts]] = {}
    for pod in pods:
        meta = pod["metadata"]
        fact = pod_facts(pod, topology) or PodFacts(namespace=meta["namespace"], name=meta["name"])
        by_name.setdefault(users[pod_name(pod)], []).append(fact)
    running = {pod_name(pod) for pod in pods if pod.get("status", {}).get("phase") == "Running"}
    bare = {pod_name(pod) for pod in pods if _controller(pod) is None}  # no controller starts them again
    found: list[Disruption] = []
    for name, members in by_name.items():
        training, user = topology.trainings.get(name), topology.user(name)
        found.append(
            Disruption(
                name=name,
                shown=user.shown if user else "",
                owner=user.owner if user else "",
                team=user.team if user else "",
                ends=any(
                    one in running and (training is not None or one in bare)
                    for one in (f"{member.namespace}/{member.name}" for member in members)
                ),
                pods=sum(f"{one.namespace}/{one.name}" in running for one in members),
                gpus=sum(member.gpus for member in members),
                text=counted(
                    "{evicted} of {count} rank",
                    "{evicted} of {count} ranks",
                    evicted=len(members),
                    count=training.ranks,
                )
                if training
                else counted("{count} pod", "{count} pods", count=len(members)),
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.gpus, one.name)))


def users_of(pods: Sequence[Mapping[str, Any]], topology: Topology) -> dict[str, str]:
    """Return the training or workload of each pod, by the pod's name."""
    found: dict[str, str] = {}
    for pod in pods:
        fact = pod_facts(pod, topology)
        found[pod_name(pod)] = (fact.training or fact.workload if fact else "") or _workload(pod)
    return found


def pod_facts(pod: Mapping[str, Any], topology: Topology) -> PodFacts | None:
    """Return what is known of a pod that is on a node and has not finished."""
    meta = pod["metadata"]
    found = topology.pods.get((meta["namespace"], meta["name"]))
    return found if found is not None and found in topology.pods_on.get(found.node, ()) else None


def _workload(pod: Mapping[str, Any]) -> str:
    owner = _controller(pod)
    namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    if owner is None:
        return workload_key(namespace, "Pod", name)
    return workload_key(namespace, kind_in_api(owner["kind"], owner.get("apiVersion", "")), owner["name"])


def pod_notes(pods: Sequence[Mapping[str, Any]], evicted: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return notes on pods that are lost for good, on data that is lost, on the pods that stay, and on the time."""
    notes: list[str] = []
    if bare := [pod for pod in evicted if _controller(pod) is None]:
        notes.append(
            sentence("No controller recreates these; they are gone for good: {pods}.", pods=_names(bare))
        )
    if storing := [pod for pod in evicted if _has_local_storage(pod)]:
        notes.append(sentence("Data in the emptyDir volumes of these is lost: {pods}.", pods=_names(storing)))
    left = [reason for pod in pods if (reason := why_stays(pod))]
    if left:
        counts = [_left(left.count(reason), reason) for reason in dict.fromkeys(left)]
        notes.append(sentence("These pods stay: {counts}.", counts=listed(counts)))
    grace = max((pod["spec"].get("terminationGracePeriodSeconds") or 0 for pod in evicted), default=0)
    if grace > 60:
        notes.append(
            sentence(
                "A pod may take {grace} to end: its grace period is kept.",
                grace=timedelta(seconds=grace),
            )
        )
    return notes


def _has_local_storage(pod: Mapping[str, Any]) -> bool:
    """Whether it has a volume on the node's disk that ends with it; one in memory holds nothing that lasts."""
    volumes: Sequence[Mapping[str, Any]] = pod["spec"].get("volumes") or ()
    return any("emptyDir" in one and (one["emptyDir"] or {}).get("medium") != "Memory" for one in volumes)


def pod_name(pod: Mapping[str, Any]) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _names(pods: Sequence[Mapping[str, Any]]) -> Sentence:
    return listed(map(pod_name, pods), most=NAMED_IN_NOTES)
