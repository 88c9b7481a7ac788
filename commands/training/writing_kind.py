"""The port of a kind of training that is written: what its file in this folder defines."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from collectors.cluster.kinds import ResourceKind
from commands.execution.object_refs import ObjectRef
from commands.execution.rights import Right
from commands.execution.steps import Running, Step
from commands.training.spec import TrainingSpec

QUEUE_OF_KUEUE = "kueue.x-k8s.io/queue-name"  # the label of what Kueue manages


def _anything(_spec: TrainingSpec) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingKind:
    """One kind of training that commands launch, suspend and delete.

    `launch` returns the steps after those that every kind has (namespace, pull secret, script, a Service per role):
    they create the workers suspended, and resume them last. `suspend` returns the step that frees the GPUs of one
    top object and whose inverse restores it; the second argument waits until its pods run again. Every kind is
    stopped for good by deleting its top objects.
    """

    objects: ResourceKind[Any]  # its top objects, the same as of the kind that is read
    summary: str  # what a launch creates, for the docs
    launch: Callable[[TrainingSpec], tuple[Step, ...]]
    is_suspended: Callable[[Any], bool]
    has_ended: Callable[[Any], bool]  # it holds no GPUs and never starts again
    suspend: Callable[[ObjectRef, Running], Step]
    pod_label: str  # whose value, on each of its pods, is its name
    managed_by: Callable[[Any], str]  # the other controller that runs it; empty for the kind's own
    launch_rights: tuple[Right, ...]
    suspend_rights: tuple[Right, ...]
    delete_rights: tuple[Right, ...]
    refusal: Callable[[TrainingSpec], str] = _anything  # why it cannot launch this spec; empty if it can
    typed: str = ""  # the kind as it is typed, where another has its name already: `vcjob`

    @property
    def name(self) -> str:
        """The kind as it stands in keys, and of the trainings that are read."""
        return self.objects.kind_in_keys

    @property
    def option(self) -> str:
        """The kind as it is typed: `--kind jobset`."""
        return self.typed or self.objects.kind.lower()
