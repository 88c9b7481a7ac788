"""The port of a kind of training that is written: what its file in this folder defines."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from collectors.cluster.kinds import ResourceKind
from collectors.facts.sentences import listed
from commands.execution.object_refs import ObjectRef
from commands.execution.rights import Right
from commands.execution.steps import Delete, Running, Step
from commands.training.spec import KUEUE, TrainingRole, TrainingSpec


def _anything(_spec: TrainingSpec) -> str:
    return ""


def _no_doubt(_verb: str, _found: Any) -> str:
    return ""


def _no_refusal(_found: Any) -> str:
    return ""


def _needs_nothing(_spec: TrainingSpec) -> tuple[ObjectRef, ...]:
    return ()


def _as_given(spec: TrainingSpec) -> tuple[TrainingRole, ...]:
    return spec.roles


@dataclass(frozen=True, slots=True, kw_only=True)
class Launching:
    """How a kind is launched.

    `steps` returns those after the steps that every kind has (namespace, pull secret, script, a Service per role). The
    workers start last: they are created suspended and then resumed, or created last if they cannot be suspended.
    """

    summary: str  # what a launch creates, for the docs
    steps: Callable[[TrainingSpec], tuple[Step, ...]]
    rights: tuple[Right, ...]
    refusal: Callable[[TrainingSpec], str] = _anything  # why it cannot launch this spec; empty if it can
    roles: Callable[[TrainingSpec], tuple[TrainingRole, ...]] = (
        _as_given  # as the kind names and divides them
    )
    queues: tuple[str, ...] = (KUEUE,)  # whose queues take it
    starts_suspended: bool = True  # it is created so, and then resumed
    needs: Callable[[TrainingSpec], tuple[ObjectRef, ...]] = _needs_nothing  # what the cluster must have
    has_runtimes: bool = False  # what it runs is described by an object of the cluster
    elastic: str = ""  # what it makes of a range of workers, said before; empty: their number is fixed


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspending:
    """How the GPUs of a kind's objects are freed so that an undo restarts them.

    `step` returns the step that suspends one top object and whose inverse resumes it; the second argument waits until
    its pods run again. `resume` returns the step that resumes one that somebody suspended. None of it is about what
    Kueue manages.
    """

    is_suspended: Callable[[Any], bool]
    step: Callable[[ObjectRef, Running], Step]
    resume: Callable[[ObjectRef], Step]
    resume_refusal: Callable[[Any], str] = _no_refusal  # why this object must not be resumed; empty if it may
    pod_label: str  # whose value, on each of its pods, is its name
    named_by: tuple[str, ...] = ()  # or else the text at this path in it
    managed_by: Callable[[Any], str]  # the other controller that runs it; empty for the kind's own
    rights: tuple[Right, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """How the number of workers of a kind's object changes while it is there.

    `step` gets the object as the API has it. `note` says what the tasks that run notice.
    """

    workers: Callable[[Any], int]
    step: Callable[[ObjectRef, Mapping[str, Any], int], Step]
    note: str
    rights: tuple[Right, ...]
    refusal: Callable[[Any], str]  # why this object cannot; empty if it can


Reprioritise = Callable[
    [ObjectRef, Mapping[str, Any], str], Step
]  # from the object in the API, to a priority class


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingKind:
    """One kind of training that commands change. Every kind is stopped for good by deleting its top objects.

    `launching`, `suspending`, `scaling` and `reprioritise` are None if the kind cannot: `training launch` does not
    list it, and what would suspend a training of it is refused.
    """

    objects: ResourceKind[Any]  # its top objects, the same as of the kind that is read
    has_ended: Callable[[Any], bool]  # it holds no GPUs and never starts again
    launching: Launching | None
    suspending: Suspending | None
    scaling: Scaling | None = None
    reprioritise: Reprioritise | None = None  # what Kueue does not manage
    notes: Mapping[str, str] = field(default_factory=dict)  # by verb: what its API makes of it, said before
    doubts: Callable[[str, Any], str] = _no_doubt  # by verb: what is said before about this object
    typed: str = ""  # the kind as it is typed, where another has its name already: `vcjob`

    @property
    def name(self) -> str:
        """The kind as it stands in keys, and of the trainings that are read."""
        return self.objects.kind_in_keys

    def said_before(self, verb: str, found: Any) -> str:
        """Return what is said before a plan of this verb about the object; empty if there is nothing to say."""
        return listed(filter(None, (self.notes.get(verb, ""), self.doubts(verb, found))), ".")

    @property
    def delete_rights(self) -> tuple[Right, ...]:
        return Delete.rights(self.objects.group, self.objects.path.rpartition("/")[2])

    @property
    def option(self) -> str:
        """The kind as it is typed: `--kind jobset`."""
        return self.typed or self.objects.kind.lower()
