"""Order: an object that tells a controller what to do with another one, and is gone once it has been read."""

from collectors.facts.results import SourceError
from collectors.facts.sentences import sentence
from commands.execution.node_effects import NO_EFFECTS_ON_NODES, NodeEffects
from commands.execution.object_refs import JsonValue, ObjectReader
from commands.execution.preconditions import value_at
from commands.execution.rights import Right
from commands.execution.step_outcomes import Done, Outcome, Refused, Waiting
from commands.execution.steps.step_kind import Attempt, DryRun, ObjectStep

WAITS = 120.0  # seconds: the pods end in their grace period first
AGAIN = 1.0  # seconds


class Order(ObjectStep, frozen=True, kw_only=True, omit_defaults=True, tag="order"):
    """Create `manifest`, an order about `ref`, and wait until the value at `path` of that is one of `after`.

    It is sent only if the value is one of `before`: an order at another time vanishes without effect. What the
    controller did is seen by the object alone, as the order is gone.
    """

    manifest: dict[str, JsonValue]
    path: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    back: dict[str, JsonValue] | None = None  # the order that reverts it
    undo_text: str = ""
    seconds: float = WAITS

    @property
    def limit(self) -> float:
        return self.seconds

    def meaning(self) -> list[object]:
        return ["Order", self.ref, self.manifest, self.before, self.after]

    def inverse(self, uid: str) -> "Order | None":
        if self.back is None:
            return None
        return Order(
            ref=self.ref,
            description=self.undo_text or sentence("restore {ref}", ref=str(self.ref)),
            manifest=self.back,
            path=self.path,
            before=self.after,
            after=self.before,
            back=self.manifest,
            undo_text=self.description,
            seconds=self.seconds,
        )

    def on_nodes(self) -> NodeEffects:
        return NO_EFFECTS_ON_NODES

    @classmethod
    def rights(cls, group: str, *resources: str, namespace: str = "") -> tuple[Right, ...]:
        """Return the rights to give orders of these resources; those to read what they are about are not in it."""
        return (Right(group=group, resources=resources, verbs=("create",), namespace=namespace),)

    async def dry_run(self, run: DryRun) -> Outcome:
        found = await run.writer.read(self.ref)
        if found is None:
            return Refused(reason=sentence("{ref} does not exist", ref=str(self.ref)))
        if (value := str(value_at(found, self.path))) in self.after:
            return Done()
        if value not in self.before:
            return Refused(reason=self._not_now(value))
        await run.writer.create(self.manifest, dry_run=True)
        return Done()

    async def apply(self, attempt: Attempt) -> Outcome:
        found = await attempt.writer.read(self.ref)
        if found is None:
            return Refused(reason=sentence("{ref} no longer exists", ref=str(self.ref)))
        value = str(value_at(found, self.path))
        if value in self.after:
            return (
                Done(text=sentence("it is {value}", value=value))
                if attempt.was_sent
                else Done(text=sentence("already in this state: nothing was changed"), is_ours=False)
            )
        if (
            value in self.before
        ):  # an order that was lost is given again, and one that is not read yet has its name
            await self._send(attempt)
        elif not attempt.was_sent:
            return Refused(reason=self._not_now(value))
        return Waiting(reason=sentence("it is {value}", value=value), again_in=AGAIN)

    async def _send(self, attempt: Attempt) -> None:
        try:
            await attempt.send(attempt.writer.create(self.manifest))
        except SourceError as error:
            if error.status != 409:
                raise

    async def observe(self, reader: ObjectReader, plan: str) -> Outcome:
        found = await reader.read(self.ref)
        value = str(value_at(found, self.path)) if found is not None else ""
        if value in self.after:
            return Done(text=sentence("it is {value}", value=value))
        return Refused(reason=sentence("{ref} is not as this step would leave it", ref=str(self.ref)))

    def _not_now(self, value: str) -> str:
        return sentence(
            "{ref} is {value} now, and takes this order only while it is {before}",
            ref=str(self.ref),
            value=value,
            before=" or ".join(self.before),
        )
