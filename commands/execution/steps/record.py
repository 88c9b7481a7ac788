"""Record: put or delete a row of our own store, with the step that it records."""

from collectors.facts.sentences import sentence
from commands.execution.node_effects import NO_EFFECTS_ON_NODES, NodeEffects
from commands.execution.object_refs import JsonValue, ObjectReader
from commands.execution.object_state import ObjectState
from commands.execution.rights import Right
from commands.execution.step_outcomes import Done, Outcome, Refused
from commands.execution.steps.step_kind import Attempt, DryRun, StepKind


class Record(StepKind, frozen=True, kw_only=True, omit_defaults=True, tag="record"):
    """Put or delete a row of our store. `row` is the row as JSON; `before` is the previous one.

    A row never goes ahead of what it records: it is written only while each object that it speaks of is as `about`
    says, read at the API server when the step runs. Its undo is written only while each is as in `about_undone`.

    With `expects`, which names the row for people, the plan starts only while the stored row still is `before`, and an
    undo reverts the step only while it still is `row`. With `goes_with`, the id of such a row, it is reverted only with
    that row. In the namespaces of `scope` the actor must be allowed to run the command.
    """

    table: str
    id: str
    row: dict[str, JsonValue] | None = None  # None: delete it
    before: dict[str, JsonValue] | None = None
    has_inverse: bool = True
    undo_text: str = ""  # the undo's description
    expects: str = ""  # `request c3f9 for vision/detr`
    goes_with: str = ""
    scope: tuple[str, ...] = ()
    about: tuple[ObjectState, ...] = ()
    about_undone: tuple[ObjectState, ...] = ()

    def meaning(self) -> list[object]:
        return ["Record", self.table, self.id]

    def inverse(self, uid: str) -> "Record | None":
        if not self.has_inverse:
            return None
        return Record(
            table=self.table,
            id=self.id,
            description=self.undo_text or sentence("revert: {step}", step=self.description),
            row=self.before,
            before=self.row,
            undo_text=self.description,
            expects=self.expects,
            goes_with=self.goes_with,
            about=self.about_undone,
            about_undone=self.about,
        )

    def on_nodes(self) -> NodeEffects:
        return NO_EFFECTS_ON_NODES

    def namespaces(self) -> tuple[str, ...]:
        return self.scope

    @classmethod
    def rights(cls, group: str, *resources: str, namespace: str = "") -> tuple[Right, ...]:
        return ()

    async def dry_run(self, run: DryRun) -> Outcome:
        for one in self.about:
            if one.ref in run.made:
                continue
            if reason := one.difference(await run.read(one.ref, one.subresource)):
                return Refused(reason=reason)
        return Done()

    async def apply(self, attempt: Attempt) -> Outcome:
        async with attempt.alone:  # or another plan's row for the same object is overwritten by an older one
            found = await self.observe(attempt.writer, attempt.plan)
            if isinstance(found, Done):
                await attempt.put(self, found.text)
            return found

    async def observe(self, reader: ObjectReader, plan: str) -> Outcome:
        """Return whether the row is true now: Done or Refused."""
        for one in self.about:
            if reason := one.difference(await reader.read(one.ref, one.subresource)):
                return Refused(reason=reason)
        return Done(text=sentence("recorded"))
