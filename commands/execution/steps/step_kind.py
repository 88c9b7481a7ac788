"""The port of a step kind: the parts that each kind in this folder defines, and what it is tried with."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec

from collectors.facts.results import SourceError
from commands.execution.access import Access
from commands.execution.cluster_writer import ClusterWriter
from commands.execution.hooks import Hooks, NoHooks
from commands.execution.job_runs import JobRuns
from commands.execution.node_effects import NodeEffects
from commands.execution.object_refs import ObjectReader, ObjectRef
from commands.execution.object_state import ObjectState, name_of
from commands.execution.rights import Right
from commands.execution.step_outcomes import Outcome

T = TypeVar("T")

PARTS = (
    "meaning",
    "inverse",
    "on_nodes",
    "namespaces",
    "rights",
    "dry_run",
    "apply",
    "observe",
)  # of every kind
LIMIT = 38.0  # seconds that a step is tried, unless its kind has another limit


class Attempt:
    """What a step is tried with. `was_sent`: a write that may have taken effect was sent, now or before a crash."""

    def __init__(
        self,
        writer: ClusterWriter,
        *,
        plan: str,
        was_sent: bool,
        put: Callable[[Any, str], Awaitable[None]] | None = None,
        alone: asyncio.Lock | None = None,
        runs: JobRuns | None = None,
        hooks: Hooks | None = None,
    ) -> None:
        self.writer = writer
        self.plan = plan
        self.put = put or _no_row  # writes the row of a Record step, and that it is done, with these words
        self.was_sent = was_sent
        self.alone = alone or asyncio.Lock()  # held while a row is compared with its objects, and written
        self.runs = runs  # the rows of the plan's Jobs
        self.hooks = hooks or NoHooks()

    async def send(self, write: Awaitable[T]) -> T:
        """Await a write. Every write of a step goes through here: from now on, an error leaves its outcome unknown.

        Only an answer that refuses the write says for sure that it took no effect.
        """
        before, self.was_sent = self.was_sent, True
        try:
            return await write
        except SourceError as error:
            if error.status is not None and error.status < 500 and error.status != 408:
                self.was_sent = before
            raise


async def _no_row(step: Any, _text: str) -> None:
    raise TypeError(f"{step} has no row")


class DryRun:
    """What a plan's dry run knows: the writer, and the objects as earlier steps would leave them.

    `made` are those that they create, which are not there yet.
    """

    def __init__(self, writer: ClusterWriter) -> None:
        self.writer = writer
        self.made: set[ObjectRef] = set()
        self._asked: dict[Access, str | None] = {}
        self._left: dict[tuple[ObjectRef, str], dict[str, Any] | None] = {}

    async def refusal(self, access: Access) -> str | None:
        """Return why Kubernetes refuses a write that no dry run can try, as its object is not there yet.

        None where it allows that, or does not say.
        """
        if access not in self._asked:
            try:
                self._asked[access] = await self.writer.refusal(access)
            except SourceError:
                self._asked[access] = None
        return self._asked[access]

    def leave(self, ref: ObjectRef, found: dict[str, Any] | None, subresource: str = "") -> None:
        """Remember an object as a step would leave it, by the server's answer to its dry run. None: gone."""
        self._left[(name_of(ref), subresource)] = found

    def is_gone(self, ref: ObjectRef) -> bool:
        """Whether an earlier step would delete the object."""
        return self._left.get((name_of(ref), ""), {}) is None

    async def read(self, ref: ObjectRef, subresource: str = "") -> dict[str, Any] | None:
        """Return the object as the steps before would leave it. Raises SourceError."""
        key = (name_of(ref), subresource)
        if key not in self._left:
            return await self.writer.read(ref, subresource)
        found = self._left[key]
        return None if found is None or (ref.uid and found["metadata"].get("uid") != ref.uid) else found


class StepKind(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The smallest change of a plan. Steps are stored with their plan, so kinds are tagged msgspec structs.

    Each kind defines all PARTS. `apply` may run again after a crash or a lost response, so it looks first whether
    an earlier attempt took effect.
    """

    description: str

    @property
    def limit(self) -> float:
        """The seconds after which the step is given up."""
        return LIMIT

    @property
    def how_to_check(self) -> str:
        """The command that shows a person whether the step was done."""
        return "plan show"

    def meaning(self) -> list[object] | None:
        """Return what the plan's hash covers: what was decided, and no times. None: it follows from other decisions."""
        raise NotImplementedError

    def inverse(self, uid: str) -> "StepKind | None":
        """Return the step that reverts this one, or None. `uid` is that of the object that this one created."""
        raise NotImplementedError

    def promised(self) -> "StepKind | None":
        """Return the step that waits until what an undo of this one promises stands. None: its inverse shows it."""
        return None

    def leaves(self) -> ObjectState | None:
        """Return how the object is once the step is done, for a row that speaks of it. None: nothing can be said."""
        return None

    def on_nodes(self) -> NodeEffects:
        """Return which nodes the step takes out of service, disrupts or puts back: budgets count that.

        What ends pods is no matter of budgets: the plan's disruptions say it.
        """
        raise NotImplementedError

    def namespaces(self) -> tuple[str, ...]:
        """Return the namespaces in which the actor must be allowed to run the command."""
        raise NotImplementedError

    @classmethod
    def rights(cls, group: str, *resources: str, namespace: str = "") -> tuple[Right, ...]:
        """Return the rights in Kubernetes to run steps of this kind on these resources."""
        raise NotImplementedError

    async def dry_run(self, run: DryRun) -> Outcome:
        """Check on the server whether the step would be accepted now, without any effect. Raises SourceError."""
        raise NotImplementedError

    async def apply(self, attempt: Attempt) -> Outcome:
        """Try the step once. Raises SourceError."""
        raise NotImplementedError

    async def observe(self, reader: ObjectReader, plan: str) -> Outcome:
        """Return whether what the step is for stands now: Done or Refused. Unknown: it cannot be seen.

        Raises SourceError.
        """
        raise NotImplementedError


class ObjectStep(StepKind, frozen=True, kw_only=True, omit_defaults=True):
    """A step about the object `ref`."""

    ref: ObjectRef

    @property
    def how_to_check(self) -> str:
        return kubectl_get(self.ref)

    def namespaces(self) -> tuple[str, ...]:
        return namespaces_of_ref(self.ref)


def kubectl_get(ref: ObjectRef) -> str:
    where = f" -n {ref.namespace}" if ref.namespace else ""
    return f"kubectl get {ref.kind_typed} {ref.name}{where} -o yaml"


def namespaces_of_ref(ref: ObjectRef) -> tuple[str, ...]:
    """Return the object's namespace; a Namespace is its own."""
    name = ref.name if ref.kind == "Namespace" else ref.namespace
    return (name,) if name else ()


def timeless(value: object) -> object:
    """Return a body without our annotations, which contain times."""
    if isinstance(value, dict):
        return {
            key: timeless(inner) for key, inner in value.items() if not str(key).startswith("yardmaster.io/")
        }
    if isinstance(value, list):
        return [timeless(inner) for inner in value]
    return value
