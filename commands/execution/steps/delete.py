"""Delete: exactly one object, and then its dependants. There is no inverse."""

from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence
from commands.execution.node_effects import NO_EFFECTS_ON_NODES, NodeEffect, NodeEffects
from commands.execution.object_refs import ObjectReader
from commands.execution.object_state import ObjectState
from commands.execution.rights import Right
from commands.execution.step_outcomes import Done, Outcome, Refused, Waiting
from commands.execution.steps.step_kind import Attempt, DryRun, ObjectStep


class Delete(ObjectStep, frozen=True, kw_only=True, omit_defaults=True, tag="delete"):
    """Delete the object with this uid and then its dependants. There is no inverse."""

    def meaning(self) -> list[object]:
        return ["Delete", self.ref]

    def inverse(self, uid: str) -> None:
        return None

    def leaves(self) -> ObjectState:
        return ObjectState(ref=self.ref, is_gone=True)

    def on_nodes(self) -> NodeEffects:
        return {self.ref.name: NodeEffect.OUT} if self.ref.kind == "Node" else NO_EFFECTS_ON_NODES

    @classmethod
    def rights(
        cls, group: str, *resources: str, namespace: str = "", names: tuple[str, ...] = ()
    ) -> tuple[Right, ...]:
        verbs = ("get", "delete")
        return (Right(group=group, resources=resources, verbs=verbs, namespace=namespace, names=names),)

    async def dry_run(self, run: DryRun) -> Outcome:
        try:
            await run.writer.delete(self.ref, dry_run=True)
        except SourceError as error:
            is_gone = error.status == 404 or (error.status == 409 and await run.writer.read(self.ref) is None)
            if not is_gone:
                raise
            run.leave(self.ref, None)
            return Done(text=sentence("already gone"))
        run.leave(self.ref, None)
        return Done()

    async def apply(self, attempt: Attempt) -> Outcome:
        try:
            await attempt.send(attempt.writer.delete(self.ref))
            return Done()
        except SourceError as error:
            if error.status == 404:
                return Done(text=sentence("already gone"))
            if error.status != 409:
                raise
            refused = said_by(error)
        if await attempt.writer.read(self.ref) is None:
            return Done(text=sentence("already gone: another object has its name now"))
        return Waiting(reason=refused)  # it was written at the same moment

    async def observe(self, reader: ObjectReader, plan: str) -> Outcome:
        found = await reader.read(self.ref)
        if found is None or found["metadata"].get("deletionTimestamp"):
            return Done()
        return Refused(reason=sentence("{ref} still exists", ref=str(self.ref)))
