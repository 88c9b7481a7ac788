"""Plans: the stages and steps of a command line, their state, their hash and their inverses."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256

import msgspec

from alerts.store import stored
from collectors.facts.sentences import english
from commands.execution.disruption import Disruption
from commands.execution.stake import Stake
from commands.execution.steps import Step


class Risk(StrEnum):
    """touch: preview and confirm; break: a second person confirms."""

    TOUCH = "touch"
    BREAK = "break"


class PlanState(StrEnum):
    PROPOSED = "proposed"
    CONFIRMED = "confirmed"  # stored, not started
    WAITING = "waiting"  # confirmed, and held back by a gate
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class HeldBy(StrEnum):
    """Which gate holds a plan back that a person may take over it."""

    BUDGET = "budget"
    WINDOW = "window"


class GateName(StrEnum):
    """The gates, as people read which of them a plan waits at."""

    NONE = ""
    BUDGET = "budget"
    WINDOW = "window"
    OWNERS = "owners"
    RULE = "rule"  # of a remediation: its alert, its sources, its breaker
    SECOND_PERSON = "second person"


GATED = frozenset({PlanState.CONFIRMED, PlanState.WAITING})  # confirmed, and no step has begun
OVER = frozenset({PlanState.DONE, PlanState.FAILED, PlanState.CANCELLED})


class StepState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"  # a write was sent, and whether it took effect is not known; looked at again
    SKIPPED = "skipped"


@stored("steps", "cluster", "plan", "state", goes_with=("plan", "plans"))
@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """The journal of one step that was begun. `number` counts from 0 over all stages of its plan."""

    plan: str
    number: int
    cluster: str
    state: StepState = StepState.WAITING
    began_at: datetime | None = None
    ended_at: datetime | None = None
    outcome: str = ""
    uid: str = ""  # of the object that a Create made
    is_ours: bool = True  # false: what it is for stood before, so an undo leaves it

    @property
    def id(self) -> str:
        return f"{self.plan}/{self.number:04}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Steps of a plan that belong together. The next stage begins when all of them are done.

    With `at_once` above 1 they run side by side, so they must not depend on each other: one that fails does not stop
    the others. Otherwise they run one after the other, and the first that fails ends the plan. In an `is_apart` stage
    one that is refused stops only those about the same objects: each node of an undo is undone, or said to be not.
    """

    steps: tuple[Step, ...]
    at_once: int = 1
    is_apart: bool = False


def in_order(*steps: Step) -> tuple[Stage, ...]:
    """Return the one stage of steps that run one after the other; none without steps."""
    return (Stage(steps=steps),) if steps else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a line was typed or pressed, and so where the answer goes."""

    via: str = ""  # slack, console, terminal, agenda
    channel: str = ""
    thread: str = ""
    incident: str = ""
    request: str = ""  # the reclaim request in whose thread it was typed
    remediation: str = ""  # the row of what a rule does by itself
    why: str = ""  # what it is done about, where nobody asked for it


def _over_at(plan: "Plan") -> datetime | None:
    is_over = plan.is_over or plan.state is PlanState.PROPOSED
    return (plan.ended_at or plan.expires_at) if is_over else None


@stored(
    "plans",
    "cluster",
    "state",
    "incident",
    "actor",
    "ended_at",
    over=_over_at,
    floats=lambda plan: (
        *(one.gpus for one in plan.disrupts),
        *(one.gpus for one in plan.stakes),
        *(one.gpu_hours or 0 for one in plan.stakes),
    ),
    read_often=True,  # at each look of the gates
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What will be done, by whom, and how far it is. Steps never change once proposed."""

    id: str
    cluster: str
    line: str
    command: str  # the noun and the verb
    actor: str  # id
    actor_name: str
    origin: Origin
    created_at: datetime
    expires_at: datetime
    stages: tuple[Stage, ...]
    title: str  # imperative: "Cordon gpu-a04"
    notes: tuple[str, ...] = ()  # what to know before confirming: who is affected, what may revert it
    disrupts: tuple[Disruption, ...] = ()  # trainings and workloads that it disrupts
    stakes: tuple[
        Stake, ...
    ] = ()  # what is at stake of each that it ends, or may end; what costs least first
    price: str = ""  # what is at stake in all
    decided: tuple[str, ...] = ()  # what was decided beyond the steps: policy and limits
    breaks: tuple[str, ...] = ()  # why it needs a second person
    held: str = ""  # why a gate holds it back; of a proposed plan, why it would
    held_by: tuple[HeldBy, ...] = ()  # the gates that hold it back, or over which it goes
    gates: tuple[GateName, ...] = ()  # all that hold it back
    held_until: datetime | None = None  # when what held it back last ends by itself, where that is known
    over_budget: str = ""  # why it does not wait for the gates that would hold it back
    request: str = ""  # the id of the request that proposed it
    replaces: str = ""  # the plan in whose place it is, which ends when this one is confirmed
    lines: tuple[str, ...] = ()  # which together do the same: it may be divided into them
    part_of: str = ""  # the plan that was divided, as it was confirmed
    parts: tuple[str, ...] = ()  # the plans into which it was divided
    alone: str = ""  # the team of the actor that may confirm it without one
    is_dry_run: bool = False  # the API server accepted a dry run of it when it was shown
    blockers: tuple[str, ...] = ()  # PodDisruptionBudgets that let no pod go when it was shown
    state: PlanState = PlanState.PROPOSED
    confirmed_by: str = ""
    confirmed_by_name: str = ""
    confirmed_at: datetime | None = None
    ended_at: datetime | None = None
    error: str = ""
    undo_of: str = ""
    undone_by: str = ""
    asked_of: tuple[str, ...] = ()  # the teams that the actor asked to confirm it
    asked_groups: tuple[str, ...] = ()  # the chat's groups of these teams
    actor_teams: tuple[str, ...] = ()  # of the actor, when it was proposed
    is_fixed: bool = False  # built from an uploaded file, so it cannot be planned again
    relieves: tuple[str, ...] = ()  # patterns of alert names, as its command declares them
    concerned: tuple[str, ...] = ()  # ids of the incidents about what it changes, open when it was confirmed

    @property
    def hash(self) -> str:
        """Binds a confirmation to what was decided: kinds, names, uids, old and new values, limits; no times.

        Whom it disrupts is compared on confirmation instead, as less than was shown is no reason to ask again.
        """
        return plan_hash(self.stages, self.decided)

    @property
    def risk(self) -> Risk:
        return Risk.BREAK if self.breaks else Risk.TOUCH

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(step for stage in self.stages for step in stage.steps)

    @property
    def incident(self) -> str:
        """Indexed in the store: the incident that the command was run for."""
        return self.origin.incident

    @property
    def is_over(self) -> bool:
        return self.state in OVER

    @property
    def has_ended(self) -> bool:
        """Whether it is over and no step runs: a cancelled plan may still finish the step in progress."""
        return self.is_over and self.ended_at is not None


def plan_hash(stages: tuple[Stage, ...], decided: tuple[str, ...]) -> str:
    """Return 12 hex digits over what was decided.

    Steps are normalized as the store returns them, so that 3 and 3.0 replicas give the same hash.
    """
    stored = msgspec.convert(msgspec.to_builtins(stages, enc_hook=english), tuple[Stage, ...])
    meanings = [one for stage in stored for one in _meanings(stage)]
    content = msgspec.json.encode([meanings, decided], order="sorted", enc_hook=english)
    return sha256(content).hexdigest()[:12]


def _meanings(stage: Stage) -> list[object]:
    """Return what the steps of a stage mean. Side by side their order means nothing: what costs least may change."""
    found: list[object] = [one for step in stage.steps if (one := step.meaning()) is not None]
    if stage.at_once == 1:
        return found
    return sorted(found, key=lambda one: msgspec.json.encode(one, order="sorted", enc_hook=english))


def inverse_of(step: Step, record: StepRecord) -> Step | None:
    """Return the step that reverts this one, or None when it has no inverse or changed nothing."""
    return step.inverse(record.uid) if record.state is StepState.DONE and record.is_ours else None
