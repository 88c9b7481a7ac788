"""Patch: a merge patch of one object or subresource, guarded by preconditions."""

from collectors.facts.results import SourceError
from collectors.facts.sentences import sentence
from commands.execution.access import Access
from commands.execution.node_effects import NO_EFFECTS_ON_NODES, NodeEffect, NodeEffects, effect_of_patch
from commands.execution.object_paths import collection
from commands.execution.object_refs import JsonValue, ObjectReader
from commands.execution.object_state import ObjectState
from commands.execution.preconditions import Precondition, contains, difference, facts_of
from commands.execution.rights import Right
from commands.execution.step_outcomes import Done, Outcome, Refused
from commands.execution.steps.running import Running
from commands.execution.steps.step_kind import (
    Attempt,
    DryRun,
    ObjectStep,
    timeless,
)

MAX_CONFLICTS = 5  # another client writes the same object at the same time


class Patch(ObjectStep, frozen=True, kw_only=True, omit_defaults=True, tag="patch"):
    """A merge patch of one object or subresource. `undo` is the merge patch that reverts it.

    What it requires and does not itself change, its inverse requires too: for example, who manages the object.
    With `if_exists` a missing object is not an error: what is gone does not need restoring.
    """

    body: dict[str, JsonValue]
    requires: tuple[Precondition, ...] = ()
    undo: dict[str, JsonValue] | None = None
    subresource: str = ""
    if_exists: bool = False
    back: Running | None = None  # what runs again after an undo
    undo_text: str = ""  # the undo's description
    disrupts: bool = False  # its node: whoever watches it reboots it, for example

    def meaning(self) -> list[object]:
        return ["Patch", self.ref, self.subresource, timeless(self.body), self.requires]

    def inverse(self, uid: str) -> "Patch | None":
        if self.undo is None:
            return None
        made = tuple(facts_of(self.body))
        paths = {fact.path for fact in made}
        return Patch(
            ref=self.ref,
            description=self.undo_text or sentence("restore {ref}", ref=str(self.ref)),
            body=self.undo,
            # others may have changed it since
            requires=(*made, *(fact for fact in self.requires if fact.path not in paths)),
            undo=self.body,  # so that the undo can be undone
            undo_text=self.description,
            subresource=self.subresource,
            if_exists=not self.if_exists,  # but what is to be done again needs its object
        )

    def promised(self) -> Running | None:
        return self.back

    def leaves(self) -> ObjectState:
        made = tuple(facts_of(self.body))
        return ObjectState(
            ref=self.ref, requires=made, subresource=self.subresource, if_exists=self.if_exists
        )

    def on_nodes(self) -> NodeEffects:
        if self.ref.kind != "Node":
            return NO_EFFECTS_ON_NODES
        found = effect_of_patch(self.body, self.undo) or (NodeEffect.DISRUPTED if self.disrupts else None)
        return {self.ref.name: found} if found is not None else NO_EFFECTS_ON_NODES

    @classmethod
    def rights(
        cls, group: str, *resources: str, namespace: str = "", names: tuple[str, ...] = ()
    ) -> tuple[Right, ...]:
        verbs = ("get", "patch")
        return (Right(group=group, resources=resources, verbs=verbs, namespace=namespace, names=names),)

    async def dry_run(self, run: DryRun) -> Outcome:
        if self.ref in run.made:
            return await self._asked(run)
        found = await run.writer.read(self.ref, self.subresource)
        if found is None and self.if_exists:
            return Done(text=sentence("already gone"))
        if found is None:
            return Refused(reason=sentence("{ref} does not exist", ref=str(self.ref)))
        if contains(found, self.body):
            run.leave(self.ref, found, self.subresource)
            return Done()
        if reason := difference(found, self.requires, self.ref):
            return Refused(reason=reason)
        left = await run.writer.patch(self.ref, self.body, subresource=self.subresource, dry_run=True)
        run.leave(self.ref, left, self.subresource)
        return Done()

    async def _asked(self, run: DryRun) -> Outcome:
        """Ask whether the patch is allowed: the server can try none of an object that does not exist yet."""
        ref = self.ref
        plural = collection(ref).rpartition("/")[2]
        access = Access(
            verb="patch",
            group=ref.api.rpartition("/")[0],
            resource=f"{plural}/{self.subresource}" if self.subresource else plural,
            namespace=ref.namespace,
        )
        refused = await run.refusal(access)
        return Refused(reason=refused) if refused is not None else Done()

    async def apply(self, attempt: Attempt) -> Outcome:
        for _ in range(MAX_CONFLICTS):
            found = await attempt.writer.read(self.ref, self.subresource)
            if found is None and self.if_exists:
                return Done(text=sentence("already gone"), is_ours=False)
            if found is None:
                return Refused(reason=sentence("{ref} no longer exists", ref=str(self.ref)))
            if contains(found, self.body):
                return (
                    Done(text=sentence("already done"))
                    if attempt.was_sent
                    else Done(text=sentence("already in this state: nothing was changed"), is_ours=False)
                )
            if reason := difference(found, self.requires, self.ref):
                return Refused(reason=reason)
            version = found["metadata"].get("resourceVersion", "")
            try:
                await attempt.send(
                    attempt.writer.patch(self.ref, self.body, subresource=self.subresource, version=version)
                )
                return Done()
            except SourceError as error:
                if error.status != 409:
                    raise
        return Refused(reason=sentence("{ref} keeps being changed by another client", ref=str(self.ref)))

    async def observe(self, reader: ObjectReader, plan: str) -> Outcome:
        found = await reader.read(self.ref, self.subresource)
        if found is None:
            return Refused(reason=sentence("{ref} no longer exists", ref=str(self.ref)))
        return (
            Done()
            if contains(found, self.body)
            else Refused(reason=sentence("{ref} is not as this step would leave it", ref=str(self.ref)))
        )
