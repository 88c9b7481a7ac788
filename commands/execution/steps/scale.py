"""Scale: set a replica count through the scale subresource."""

from commands.execution.object_refs import ObjectReader
from commands.execution.object_state import ObjectState
from commands.execution.preconditions import Precondition
from commands.execution.rights import Right
from commands.execution.step_outcomes import Done, Outcome, Refused
from commands.execution.steps.running import WAITS_FOR
from commands.execution.steps.step_kind import Attempt, DryRun, ObjectStep
from commands.execution.steps.wait import Wait


class Scale(ObjectStep, frozen=True, kw_only=True, omit_defaults=True, tag="scale"):
    """Set the replica count through the scale subresource, if it is still `expected`."""

    replicas: int
    expected: int

    def meaning(self) -> list[object]:
        return ["Scale", self.ref, self.expected, self.replicas]

    def inverse(self, uid: str) -> "Scale":
        return Scale(
            ref=self.ref,
            description=f"scale {self.ref} back to {self.expected}",
            replicas=self.expected,
            expected=self.replicas,
        )

    def promised(self) -> Wait | None:
        if self.expected <= self.replicas:
            return None
        return Wait(
            ref=self.ref,
            description=f"wait until {self.expected} pods of {self.ref} are ready",
            path=("status", "readyReplicas"),
            at_least=self.expected,
            seconds=WAITS_FOR,
        )

    def leaves(self) -> ObjectState:
        is_so = Precondition(path=("spec", "replicas"), equals=self.replicas)
        return ObjectState(ref=self.ref, requires=(is_so,), subresource="scale")

    @classmethod
    def rights(cls, group: str, *resources: str, namespace: str = "") -> tuple[Right, ...]:
        scales = tuple(f"{resource}/scale" for resource in resources)
        return (Right(group=group, resources=scales, verbs=("get", "patch"), namespace=namespace),)

    async def dry_run(self, run: DryRun) -> Outcome:
        run.leave(self.ref, await run.writer.scale(self.ref, self.replicas, dry_run=True), "scale")
        return Done()

    async def apply(self, attempt: Attempt) -> Outcome:
        now = await self._replicas(attempt.writer)
        if now is None:
            return Refused(reason=f"{self.ref} no longer exists")
        if now == self.replicas:
            return Done(text=f"already has {now} replicas", is_ours=attempt.was_sent)
        if now != self.expected:
            return Refused(
                reason=f"{self.ref} has {now} replicas now, not {self.expected} as shown: run the command again"
            )
        await attempt.send(attempt.writer.scale(self.ref, self.replicas))
        return Done(text=f"scaled from {self.expected} to {self.replicas}")

    async def observe(self, reader: ObjectReader, plan: str) -> Outcome:
        now = await self._replicas(reader)
        if now == self.replicas:
            return Done(text=f"has {now} replicas")
        return Refused(reason=f"{self.ref} " + ("no longer exists" if now is None else f"has {now} replicas"))

    async def _replicas(self, reader: ObjectReader) -> int | None:
        found = await reader.read(self.ref, "scale")
        return None if found is None else int(found["spec"].get("replicas", 0))
