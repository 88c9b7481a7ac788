"""The controllers that act on kinds of training: whether their pods run in this cluster. Pure.

Each is known by the name of its Deployment in its project's own manifests, which its pods' names begin with.
"""

from collections.abc import Iterator, Sequence

from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import (
    JOBSETS,
    MPIJOBS,
    MPIJOBS_V2BETA1,
    PYTORCHJOBS,
    RAYJOBS,
    TFJOBS,
    TRAINJOBS,
    VCJOBS,
)
from collectors.cluster.objects import Pod
from collectors.facts.sentences import sentence
from collectors.pod_troubles import why_not_running

_OPERATOR = ("training-operator",)
KUEUE_PODS = ("kueue-controller-manager",)
# By the name that a pod's spec has.
SCHEDULERS = {"default-scheduler": ("kube-scheduler",), "volcano": ("volcano-scheduler",)}
CONTROLLERS: dict[str, tuple[str, ...]] = {
    PYTORCHJOBS.kind_in_keys: _OPERATOR,
    TFJOBS.kind_in_keys: _OPERATOR,
    MPIJOBS.kind_in_keys: _OPERATOR,
    MPIJOBS_V2BETA1.kind_in_keys: ("mpi-operator",),
    TRAINJOBS.kind_in_keys: ("kubeflow-trainer-controller-manager", "trainer-controller-manager"),
    JOBSETS.kind_in_keys: ("jobset-controller-manager", "jobset-controller"),
    RAYJOBS.kind_in_keys: ("kuberay-operator",),
    VCJOBS.kind_in_keys: ("volcano-controllers", "volcano-controller-manager", "volcano-scheduler"),
}


def controller_trouble(names: Sequence[str], inventory: Inventory) -> str:
    """Return what is wrong with the pods of these Deployments; empty where one runs, or none is seen."""
    troubles: list[str] = []
    for pod in _pods(names, inventory):
        said = why_not_running(pod, inventory)
        if not said:
            return ""
        troubles.append(sentence("{pod} does not run: {why}", pod=pod.key, why=said))
    return troubles[0] if troubles else ""


def _pods(names: Sequence[str], inventory: Inventory) -> Iterator[Pod]:
    for pod in inventory.pods.values():
        if any(pod.metadata.name.startswith(f"{name}-") for name in names):
            yield pod
