"""This file has plans: a command line turned into a list of steps, its state, and its hash."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from hashlib import sha256

import msgspec

from commands.plans.steps import Create, Delete, ObjectRef, Patch, Precondition, Record, Scale, Step, Wait


class Risk(StrEnum):
    """look: no question; touch: preview and confirm; break: a second person confirms."""

    READ = "read"
    TOUCH = "touch"
    BREAK = "break"


class PlanState(StrEnum):
    PROPOSED = "proposed"
    CONFIRMED = "confirmed"  # in the journal, not begun
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


OVER = frozenset({PlanState.DONE, PlanState.FAILED, PlanState.CANCELLED})


class StepState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"  # begun, the outcome is not known
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """What the journal knows of one step. `uid` is of the object that a Create made."""

    state: StepState = StepState.WAITING
    began_at: datetime | None = None
    ended_at: datetime | None = None
    outcome: str = ""
    uid: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a line was typed or pressed, so that the answer finds its way back."""

    via: str = ""  # slack, console, terminal, agenda
    channel: str = ""
    thread: str = ""
    incident: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A deed: what will be done, by whom, and how far it is. Steps never change once proposed."""

    id: str
    cluster: str
    line: str
    command: str  # the noun and the verb
    risk: Risk
    actor: str  # id
    actor_name: str
    origin: Origin
    created_at: datetime
    expires_at: datetime
    steps: tuple[Step, ...]
    records: tuple[StepRecord, ...]
    title: str  # what it does, as an order: "Cordon gpu-a04"
    notes: tuple[str, ...] = ()  # what to know before: who is hurt, what may revert it
    disrupts: tuple[str, ...] = ()  # trainings and pods that it takes down
    state: PlanState = PlanState.PROPOSED
    confirmed_by: str = ""
    confirmed_at: datetime | None = None
    ended_at: datetime | None = None
    error: str = ""
    undo_of: str = ""
    undone_by: str = ""
    is_fixed: bool = False  # made from what came with the line (a file): it cannot be planned anew

    @property
    def hash(self) -> str:
        """Binds a confirmation to what was shown: kinds, names, uids, old and wanted values, victims; no times."""
        return plan_hash(self.steps, self.disrupts)

    @property
    def incident(self) -> str:
        """For look-ups in the store: the incident it was pressed for."""
        return self.origin.incident

    @property
    def is_over(self) -> bool:
        return self.state in OVER

    @property
    def has_ended(self) -> bool:
        """Not so while one that was cancelled still does the step that was begun."""
        return self.is_over and self.ended_at is not None

    def with_record(self, number: int, record: StepRecord) -> "Plan":
        records = (*self.records[:number], record, *self.records[number + 1 :])
        return replace(self, records=records)


def plan_hash(steps: tuple[Step, ...], disrupts: tuple[str, ...]) -> str:
    """12 hex digits over what the plan does and whom it hits.

    Steps are taken as the store will give them back, so that 3 and 3.0 replicas are the same plan.
    """
    stored = msgspec.convert(msgspec.to_builtins(steps), tuple[Step, ...])
    told = msgspec.json.encode([[_meaning(step) for step in stored], sorted(disrupts)], order="sorted")
    return sha256(told).hexdigest()[:12]


def _meaning(step: Step) -> list[object]:
    """A step without the parts that move by themselves: our annotations hold moments."""
    kind = type(step).__name__
    match step:
        case Patch():
            return [kind, step.ref, step.subresource, _timeless(step.body), step.requires]
        case Create():
            return [kind, step.ref, _timeless(step.manifest)]
        case Delete():
            return [kind, step.ref]
        case Scale():
            return [kind, step.ref, step.expected, step.replicas]
        case Wait():
            return [kind, step.ref, step.path, step.equals, step.at_least, step.is_gone]
        case Record():
            return [kind, step.table, step.id]


def _timeless(value: object) -> object:
    if isinstance(value, dict):
        return {
            key: _timeless(inner) for key, inner in value.items() if not str(key).startswith("yardmaster.io/")
        }
    if isinstance(value, list):
        return [_timeless(inner) for inner in value]
    return value


def _facts(body: Mapping[str, object], above: tuple[str, ...] = ()) -> Iterator[Precondition]:
    """What is so after a merge patch: each value at its path."""
    for key, value in body.items():
        path = (*above, key)
        if isinstance(value, Mapping):
            yield from _facts(value, path)
        else:
            yield Precondition(path=path, equals=value)


def inverse_of(step: Step, record: StepRecord) -> Step | None:
    """The step that takes this one back, or None when there is none or it was not done."""
    if record.state is not StepState.DONE:
        return None
    match step:
        case Patch(inverse=dict() as body):
            return Patch(
                ref=step.ref,
                description=f"put back {step.ref}",
                body=body,
                requires=tuple(_facts(step.body)),  # what we set may be somebody else's by now
                inverse=step.body,  # so that the undoing can be undone
                subresource=step.subresource,
            )
        case Create() if step.is_secret:
            return None
        case Create():
            ref = ObjectRef(
                api=step.ref.api,
                kind=step.ref.kind,
                name=step.ref.name,
                namespace=step.ref.namespace,
                uid=record.uid,
            )
            return Delete(ref=ref, description=f"delete {step.ref}, which we made")
        case Scale():
            return Scale(
                ref=step.ref,
                description=f"scale {step.ref} back to {step.expected}",
                replicas=step.expected,
                expected=step.replicas,
            )
        case Record(has_inverse=True):
            return Record(
                table=step.table,
                id=step.id,
                description="take the record back",
                row=step.inverse,
                inverse=step.row,
            )
        case _:
            return None
