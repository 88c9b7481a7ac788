"""Scale: set a replica count through the scale subresource."""

from collectors.facts.sentences import counted, sentence
from commands.execution.node_effects import NO_EFFECTS_ON_NODES, NodeEffects
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
            description=sentence("scale {ref} back to {expected}", ref=str(self.ref), expected=self.expected),
            replicas=self.expected,
            expected=self.replicas,
        )

    def promised(self) -> Wait | None:
        if self.expected <= self.replicas:
            return None
        return Wait(
            ref=self.ref,
            description=counted(
                "wait until {count} pod of {ref} is ready",
                "wait until {count} pods of {ref} are ready",
                count=self.expected,
                ref=str(self.ref),
            ),
            path=("status", "readyReplicas"),
            at_least=self.expected,
            seconds=WAITS_FOR,
        )

    def leaves(self) -> ObjectState:
        is_so = Precondition(path=("spec", "replicas"), equals=self.replicas)
        return ObjectState(ref=self.ref, requires=(is_so,), subresource="scale")

    def on_nodes(self) -> NodeEffects:
        return NO_EFFECTS_ON_NODES

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
            return Refused(reason=sentence("{ref} no longer exists", ref=str(self.ref)))
        if now == self.replicas:
            return Done(
                text=counted("already has {count} replica", "already has {count} replicas", count=now),
                is_ours=attempt.was_sent,
            )
        if now != self.expected:
            return Refused(
                reason=counted(
                    "{ref} has {count} replica now, not {expected} as shown: run the command again",
                    "{ref} has {count} replicas now, not {expected} as shown: run the command again",
                    ref=str(self.ref),
                    count=now,
                    expected=self.expected,
                )
            )
        await attempt.send(attempt.writer.scale(self.ref, self.replicas))
        return Done()

    async def observe(self, reader: ObjectReader, plan: str) -> Outcome:
        now = await self._replicas(reader)
        if now == self.replicas:
            return Done(text=counted("has {count} replica", "has {count} replicas", count=now))
        if now is None:
            return Refused(reason=sentence("{ref} no longer exists", ref=str(self.ref)))
        return Refused(
            reason=counted(
                "{ref} has {count} replica", "{ref} has {count} replicas", ref=str(self.ref), count=now
            )
        )

    async def _replicas(self, reader: ObjectReader) -> int | None:
        found = await reader.read(self.ref, "scale")
        return None if found is None else int(found["spec"].get("replicas", 0))
