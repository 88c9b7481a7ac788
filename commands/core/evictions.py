"""Pods that a plan evicts from a node: which stay, whose they are, and the step for each."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from enum import Enum, auto
from typing import Any

from collectors.cluster.indexes import kind_in_api
from collectors.facts.sentences import counted, sentence
from collectors.facts.topology import PodFacts, Topology
from collectors.facts.workload_keys import workload_key
from commands.execution.disruption import Disruption
from commands.execution.object_refs import ObjectRef
from commands.execution.steps import Evict

AT_ONCE = 10  # pods that are being ended at the same time; those that wait for a budget do not count
EVICTED_WITHIN = timedelta(hours=1)  # from the first attempt until a pod is gone

_MIRROR = "kubernetes.io/config.mirror"  # the annotation of a static pod, which only its kubelet can end


def eviction_of(pod: Mapping[str, Any]) -> Evict:
    meta = pod["metadata"]
    return Evict(
        ref=ObjectRef(api="v1", kind="Pod", namespace=meta["namespace"], name=meta["name"], uid=meta["uid"]),
        description=sentence("evict {pod}", pod=pod_name(pod)),
        seconds=EVICTED_WITHIN.total_seconds(),
    )


class Stays(Enum):
    """Why a drain leaves a pod on its node."""

    STATIC = auto()
    FINISHED = auto()
    OF_DAEMON_SET = auto()


def why_stays(pod: Mapping[str, Any]) -> Stays | None:
    """Return why a drain leaves the pod on its node; None if it is evicted."""
    if _MIRROR in (pod["metadata"].get("annotations") or {}):
        return Stays.STATIC
    if pod.get("status", {}).get("phase") in ("Succeeded", "Failed"):
        return Stays.FINISHED
    owner = controller_of(pod)
    return Stays.OF_DAEMON_SET if owner is not None and owner["kind"] == "DaemonSet" else None


def controller_of(pod: Mapping[str, Any]) -> Mapping[str, Any] | None:
    owners: Sequence[Mapping[str, Any]] = pod["metadata"].get("ownerReferences") or ()
    return next((owner for owner in owners if owner.get("controller")), None)


def disruptions_of(
    pods: Sequence[Mapping[str, Any]], topology: Topology, node: str
) -> tuple[Disruption, ...]:
    """Return the trainings and workloads whose pods are evicted, those with the most GPUs first."""
    facts, users = facts_on(topology, node), users_of(pods, topology, node)
    by_name: dict[str, list[PodFacts]] = {}
    for pod in pods:
        fact = facts.get(pod_name(pod)) or PodFacts(
            namespace=pod["metadata"]["namespace"], name=pod["metadata"]["name"]
        )
        by_name.setdefault(users[pod_name(pod)], []).append(fact)
    running = {pod_name(pod) for pod in pods if pod.get("status", {}).get("phase") == "Running"}
    bare = {pod_name(pod) for pod in pods if controller_of(pod) is None}  # no controller starts them again
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


def users_of(pods: Sequence[Mapping[str, Any]], topology: Topology, node: str) -> dict[str, str]:
    """Return the training or workload of each pod, by the pod's name."""
    facts = facts_on(topology, node)
    found: dict[str, str] = {}
    for pod in pods:
        fact = facts.get(pod_name(pod))
        found[pod_name(pod)] = (fact.training or fact.workload if fact else "") or workload_of_pod(pod)
    return found


def workload_of_pod(pod: Mapping[str, Any]) -> str:
    owner = controller_of(pod)
    namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    if owner is None:
        return workload_key(namespace, "Pod", name)
    return workload_key(namespace, kind_in_api(owner["kind"], owner.get("apiVersion", "")), owner["name"])


def facts_on(topology: Topology, node: str) -> dict[str, PodFacts]:
    return {f"{pod.namespace}/{pod.name}": pod for pod in topology.pods_on.get(node, ())}


def pod_name(pod: Mapping[str, Any]) -> str:
    """Return `namespace/name`."""
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
