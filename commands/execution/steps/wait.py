"""Wait: until an object has a value, or is gone."""

from typing import Any

import msgspec

from collectors.acceptance.validations import VERDICT_READERS
from collectors.facts.sentences import sentence
from commands.execution.node_effects import NO_EFFECTS_ON_NODES, NodeEffects
from commands.execution.object_refs import JsonValue, ObjectReader
from commands.execution.preconditions import value_at
from commands.execution.rights import Right
from commands.execution.step_outcomes import Done, Outcome, Refused, Waiting
from commands.execution.steps.step_kind import Attempt, DryRun, ObjectStep

_VERDICT_AGAIN = 5.0  # seconds: tests of others take minutes


class Wait(ObjectStep, frozen=True, kw_only=True, omit_defaults=True, tag="wait"):
    """Wait until the value at `path` is `equals`, is at least `at_least`, or `differs` from the one that it had.

    With `is_gone`: until the object is gone. With `verdict`: until this reader says that it is over, whatever it says.
    """

    path: tuple[str, ...] = ()
    equals: JsonValue = None
    at_least: float | None = None
    is_gone: bool = False
    differs: JsonValue = None  # from what it was: a boot id
    verdict: str = ""  # the name of a reader of other programs' verdicts
    wanted: dict[str, str] = msgspec.field(default_factory=dict)
    seconds: float = 120

    @property
    def limit(self) -> float:
        return self.seconds

    def meaning(self) -> list[object]:
        found = ["Wait", self.ref, self.path, self.equals, self.at_least, self.is_gone]
        if self.verdict:
            found = [*found, self.verdict, self.wanted]
        return found if self.differs is None else [*found, self.differs]

    def inverse(self, uid: str) -> None:
        return None

    def on_nodes(self) -> NodeEffects:
        return NO_EFFECTS_ON_NODES

    @classmethod
    def rights(cls, group: str, *resources: str, namespace: str = "") -> tuple[Right, ...]:
        return (Right(group=group, resources=resources, verbs=("get",), namespace=namespace),)

    async def dry_run(self, run: DryRun) -> Outcome:
        return Done()

    async def apply(self, attempt: Attempt) -> Outcome:
        attempt.was_sent = False  # and not by an earlier process
        return self._judged(await attempt.writer.read(self.ref))

    async def observe(self, reader: ObjectReader, plan: str) -> Outcome:
        return self._judged(await reader.read(self.ref))

    def _judged(self, found: dict[str, Any] | None) -> Outcome:
        if found is None:
            return (
                Done()
                if self.is_gone
                else Refused(reason=sentence("{ref} no longer exists", ref=str(self.ref)))
            )
        if self.verdict:
            if VERDICT_READERS[self.verdict](found, self.wanted) is not None:
                return Done()
            return Waiting(reason=sentence("it is not over"), again_in=_VERDICT_AGAIN)
        seen = value_at(found, self.path)
        if not self.is_gone and self._is_met(seen):
            return Done()
        return Waiting(
            reason=sentence("it is still there") if self.is_gone else sentence("it is {seen}", seen=str(seen))
        )

    def _is_met(self, seen: object) -> bool:
        if self.at_least is not None:
            return isinstance(seen, int | float) and seen >= self.at_least
        if self.differs is not None:
            return seen is not None and seen != self.differs
        return bool(seen == self.equals)
