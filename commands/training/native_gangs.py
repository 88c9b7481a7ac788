"""Reasons why a gang of Kubernetes' own scheduler waits, from its PodGroup and its pods. Pure.

Source: Kubernetes 1.36, its plugin `gangscheduling`: a pod that has room says that it waits for others.
"""

from collections.abc import Iterator

from collectors.cluster.inventory import Inventory
from collectors.facts.sentences import sentence
from collectors.trainings.training import Training
from collectors.trainings.wait_reasons import WaitKind, WaitReason
from commands.training.pod_waits import rank_pods
from commands.training.queue_objects import Tree

_PLACED = "waiting for minCount pods from a gang to be scheduled"
_AWAITED = "waiting for minCount pods from a gang to appear"
_PREEMPTION = "waiting for preemption to complete"


def native_reasons(training: Training, inventory: Inventory, group: Tree) -> Iterator[WaitReason]:
    policy = ((group.get("spec") or {}).get("schedulingPolicy") or {}).get("gang") or {}
    tasks = int(policy.get("minCount") or 0)
    if not tasks:
        return
    said = [
        one.message
        for pod in rank_pods(training, inventory)
        for one in pod.status.conditions or ()
        if one.type == "PodScheduled" and one.status == "False"
    ]
    if any(_PREEMPTION in words for words in said):
        text = sentence("its tasks start together, and others are being ended for them")
        yield WaitReason(kind=WaitKind.PREEMPTING, text=text)
    elif any(_AWAITED in words for words in said) and 0 < training.wanted < tasks:
        yield WaitReason(
            kind=WaitKind.TOO_LARGE,
            text=sentence(
                "its tasks start together once {tasks} of its pods are there, and it makes {count}: it never starts as "
                "it is",
                tasks=tasks,
                count=training.wanted,
            ),
        )
    elif any(_AWAITED in words for words in said):
        yield WaitReason(
            kind=WaitKind.GANG,
            text=sentence(
                "its tasks start together once {tasks} of its pods are there, and {count} are",
                tasks=tasks,
                count=len(said),
            ),
        )
    elif fitting := sum(_PLACED in words for words in said):
        yield WaitReason(
            kind=WaitKind.GANG,
            text=sentence(
                "its tasks start together, and {fitting} of {tasks} have room", fitting=fitting, tasks=tasks
            ),
        )
