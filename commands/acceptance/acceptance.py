"""The acceptance of a node: a suite of tests that it passed, or why not, with what was measured. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from alerts.store import stored
from collectors.acceptance.readings import MeasuredFigure, PartReport, PartState
from collectors.facts.sentences import sentence
from commands.execution.object_refs import ObjectRef


class AcceptanceState(StrEnum):
    """What came of an acceptance. Only ACCEPTED is a proof."""

    RUNNING = "running"
    ACCEPTED = "accepted"
    FAILED = "failed"  # a part is not well
    SLOW = "slow"  # all passed, and it reaches less than its model did before
    UNTESTED = "untested"  # the tests could not run, or what they printed cannot be read
    WITHDRAWN = "withdrawn"  # it was accepted, and an alert then said that the tests were wrong
    RETURNED = "returned"  # somebody uncordoned the node without a test


OPEN_ACCEPTANCE = frozenset({AcceptanceState.RUNNING})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTest:
    """A test of the suite as the plan has it: on which node, and the name and turn of its script there."""

    name: str
    reads: str  # the name of its reader
    node: str
    script: str
    turn: int = 0
    of: ObjectRef | None = None  # of a test that another program runs: the object that has its verdict
    wanted: Mapping[str, str] = field(default_factory=dict)

    def run(self, plan: str) -> str:
        """Return the id of the row of its Job."""
        return f"{plan}/{self.node}/{self.script}/{self.turn}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """A figure that is slow: what it is, and the median that it is compared with."""

    name: str
    unit: str
    value: float
    median: float
    gpu: int | None = None
    is_of_node: bool = False  # compared with the other GPUs of its node, as nothing else is known

    @property
    def share(self) -> float:
        """The part of the median that it reaches; of a cost, the median's part of it."""
        low, high = sorted((self.value, self.median))
        return low / high if high else 1.0


@stored(
    "acceptances",
    "cluster",
    "node",
    "model",
    "state",
    "plan",
    "at",
    over=lambda one: None if one.state in OPEN_ACCEPTANCE else one.at,
    floats=lambda one: (
        *(figure.value for figure in one.figures),
        *(value for short in one.slow for value in (short.value, short.median)),
    ),
    in_plans=True,
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """One acceptance. `id` is cluster/node/number: it is known before its plan is.

    The proof holds for the node with this uid, since its boot with this id.
    """

    id: str
    cluster: str
    node: str
    uid: str
    boot_id: str
    gpu: str = ""  # the GPU as it was named, where one of the node is tested alone; the device is its name in the list
    device: str = ""
    model: str  # of its GPUs, as its label says; empty if it has none
    gpus: int  # that its capacity has
    suite: str
    tests: tuple[PlannedTest, ...] = ()
    with_node: str = ""  # the other node of tests between two
    by: str  # a person
    by_name: str
    at: datetime  # when it was asked for
    plan: str = ""
    state: AcceptanceState = AcceptanceState.RUNNING
    ended_at: datetime | None = None
    reasons: tuple[str, ...] = ()  # of the verdict, the first is the one to show alone
    findings: tuple[PartReport, ...] = ()
    figures: tuple[MeasuredFigure, ...] = ()
    slow: tuple[Shortfall, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    compared: int = 0  # nodes of its model with whose figures its own were compared
    returned_at: datetime | None = None  # when it was seen to take pods again, with this proof
    watched_until: datetime | None = None  # until then an alert about its GPUs withdraws it

    @property
    def what(self) -> str:
        """What is tested, as people name it."""
        return sentence("GPU {gpu} of {node}", gpu=self.gpu, node=self.node) if self.device else self.node

    @property
    def is_proof(self) -> bool:
        return self.state is AcceptanceState.ACCEPTED

    @property
    def is_over(self) -> bool:
        return self.state not in OPEN_ACCEPTANCE

    @property
    def failed(self) -> tuple[PartReport, ...]:
        return tuple(one for one in self.findings if one.outcome is PartState.FAILED)

    @property
    def is_first(self) -> bool:
        """Whether nothing of its model was measured before: that it is as fast as it should be is not known."""
        return self.is_over and not self.compared

    def is_of(self, *, uid: str, boot_id: str) -> bool:
        """Whether it is about this node since its last boot: what is not known is no proof."""
        return bool(self.uid) and self.uid == uid and self.boot_id == boot_id


def newest_of_nodes(acceptances: Iterable[Acceptance]) -> dict[str, Acceptance]:
    """Return the newest acceptance of each node that is over; those of one GPU alone say nothing of the node."""
    return _newest((one.node, one) for one in acceptances if not one.device)


def newest_of_gpus(acceptances: Iterable[Acceptance], node: str) -> dict[str, Acceptance]:
    """Return the newest acceptance of each device of the node that is over."""
    return _newest((one.device, one) for one in acceptances if one.device and one.node == node)


def _newest(named: Iterable[tuple[str, Acceptance]]) -> dict[str, Acceptance]:
    found: dict[str, Acceptance] = {}
    for name, one in named:
        if one.is_over and (name not in found or (one.at, one.id) > (found[name].at, found[name].id)):
            found[name] = one
    return found
