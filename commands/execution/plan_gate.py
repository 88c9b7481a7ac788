"""The gates before a plan's stages: the port of what may hold a confirmed plan back, or stop it between two stages."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from alerts.store import StoreSnapshot
from collectors.facts.sentences import listed
from commands.execution.plan import GateName, HeldBy, Plan

HELD_AT_MOST = timedelta(hours=4)  # then a plan that is held back is cancelled


def given_up_at(plan: Plan) -> datetime | None:
    """Return when a plan that waits on is given up. After a known end it has the whole time again."""
    if plan.confirmed_at is None:
        return None
    return max(plan.confirmed_at, plan.held_until or plan.confirmed_at) + HELD_AT_MOST


@dataclass(frozen=True, slots=True, kw_only=True)
class GateVerdict:
    """What the gates say of a plan: without a reason they let it go, else the plan waits.

    `is_final`: waiting is no use, so the plan ends. `until`: when what holds it back ends by itself, if that is known;
    the plan is not given up before. `gates`: those that hold it back. `by`: those over which a person may take it.
    """

    reason: str = ""
    is_final: bool = False
    until: datetime | None = None
    by: tuple[HeldBy, ...] = ()
    gates: tuple[GateName, ...] = ()

    @property
    def holds(self) -> bool:
        return bool(self.reason)


LETS_GO = GateVerdict()
NONE_HELD: frozenset[str] = frozenset()

PlanJudge = Callable[[Plan], GateVerdict]  # of one of the plans that were looked at; pure


class Gate(Protocol):
    """Looks once, for all plans that are to be judged together, and then judges each by that picture."""

    @property
    def name(self) -> GateName: ...

    async def look(
        self, plans: Sequence[Plan], rows: StoreSnapshot, *, held: Collection[str] = NONE_HELD
    ) -> PlanJudge:
        """Read what is needed to judge these plans, in the transaction of `rows` that would begin them.

        The number of reads does not depend on that of the plans. `held`: ids of those that another gate holds back, so
        that they take no place now. The state of a plan says what it is about: a running one has done a stage, and
        what holds it back ends it.
        """
        ...


@dataclass(frozen=True, slots=True)
class OpenGate:
    """Holds nothing back."""

    name = GateName.NONE

    async def look(
        self, _plans: Sequence[Plan], _rows: StoreSnapshot, *, held: Collection[str] = NONE_HELD
    ) -> PlanJudge:
        return lambda _plan: LETS_GO


open_gate = OpenGate()


@dataclass(frozen=True, slots=True)
class Gates:
    """Several gates as one. A plan that several hold back says every reason.

    What the first ones hold back is known to the last: it takes no place in a budget.
    """

    gates: tuple[Gate, ...]
    name = GateName.NONE

    async def look(
        self, plans: Sequence[Plan], rows: StoreSnapshot, *, held: Collection[str] = NONE_HELD
    ) -> PlanJudge:
        verdicts: dict[str, list[GateVerdict]] = {plan.id: [] for plan in plans}
        waits = set(held)
        for gate in self.gates:
            judge = await gate.look(plans, rows, held=frozenset(waits))
            for plan in plans:
                if (found := judge(plan)).holds:
                    named = replace(found, gates=found.gates or (gate.name,))
                    verdicts[plan.id].append(named)
                    waits.add(plan.id)
        return lambda plan: _together(verdicts[plan.id])


def _together(found: Sequence[GateVerdict]) -> GateVerdict:
    if final := next((one for one in found if one.is_final), None):
        return final
    if len(found) < 2:
        return found[0] if found else LETS_GO
    ends = [one.until for one in found if one.until is not None]
    return GateVerdict(
        reason=listed((one.reason for one in found), ";"),
        until=max(ends, default=None),
        by=tuple(dict.fromkeys(by for one in found for by in one.by)),
        gates=tuple(dict.fromkeys(gate for one in found for gate in one.gates)),
    )


async def verdict_on(plan: Plan, gate: Gate, rows: StoreSnapshot) -> GateVerdict:
    """Return what a gate says of one plan."""
    return (await gate.look((plan,), rows))(plan)
