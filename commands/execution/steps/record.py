"""Record: put or delete a row of our own store, with the step that it records."""

from commands.execution.object_refs import JsonValue, ObjectReader
from commands.execution.rights import Right
from commands.execution.step_outcomes import Done, Outcome, Unknown
from commands.execution.steps.step_kind import Attempt, DryRun, StepKind


class Record(StepKind, frozen=True, kw_only=True, omit_defaults=True, tag="record"):
    """Put or delete a row of our store. `row` is the row as JSON; `before` is the previous one.

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

    def meaning(self) -> list[object]:
        return ["Record", self.table, self.id]

    def inverse(self, uid: str) -> "Record | None":
        if not self.has_inverse:
            return None
        return Record(
            table=self.table,
            id=self.id,
            description=self.undo_text or f"revert: {self.description}",
            row=self.before,
            before=self.row,
            undo_text=self.description,
            expects=self.expects,
            goes_with=self.goes_with,
        )

    def namespaces(self) -> tuple[str, ...]:
        return self.scope

    @classmethod
    def rights(cls, group: str, *resources: str, namespace: str = "") -> tuple[Right, ...]:
        return ()

    async def dry_run(self, run: DryRun) -> Outcome:
        return Done()

    async def apply(self, attempt: Attempt) -> Outcome:
        await attempt.put(self)
        return Done(text="recorded")

    async def observe(self, reader: ObjectReader, plan: str) -> Outcome:
        return Unknown(reason="the row is in our own store, and nothing in the cluster shows it")
