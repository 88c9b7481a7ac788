"""The gates before a plan's stages: the port of what may hold a confirmed plan back, or stop it between two stages."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from alerts.store import StoreSnapshot
from collectors.facts.sentences import listed
from commands.execution.plan import HeldBy, Plan

HELD_AT_MOST = timedelta(hours=4)  # then a plan that is held back is cancelled


@dataclass(frozen=True, slots=True, kw_only=True)
class GateVerdict:
    """What a gate says of a plan: without a reason it lets it go, else the plan waits.

    `is_final`: waiting is no use, so the plan ends. `until`: when what holds it back ends by itself, if that is known;
    the plan is not given up before. `by`: the gate, where a person may take the plan over it.
    """

    reason: str = ""
    is_final: bool = False
    until: datetime | None = None
    by: tuple[HeldBy, ...] = ()

    @property
    def holds(self) -> bool:
        return bool(self.reason)


LETS_GO = GateVerdict()


class Gate(Protocol):
    async def __call__(self, plan: Plan, rows: StoreSnapshot, /) -> GateVerdict:
        """Judge a plan in the transaction of `rows` that would begin it, or its next stage.

        The state of the plan tells which: a running one has done a stage. What holds it back then ends it.
        """
        ...


async def open_gate(_plan: Plan, _rows: StoreSnapshot) -> GateVerdict:
    """Hold nothing back."""
    return LETS_GO


@dataclass(frozen=True, slots=True)
class Gates:
    """Several gates as one. A plan that several hold back says every reason."""

    gates: tuple[Gate, ...]

    async def __call__(self, plan: Plan, rows: StoreSnapshot) -> GateVerdict:
        found = [verdict for gate in self.gates if (verdict := await gate(plan, rows)).holds]
        if final := next((one for one in found if one.is_final), None):
            return final
        if len(found) < 2:
            return found[0] if found else LETS_GO
        ends = [one.until for one in found if one.until is not None]
        return GateVerdict(
            reason=listed((one.reason for one in found), ";"),
            until=max(ends, default=None),
            by=tuple(dict.fromkeys(by for one in found for by in one.by)),
        )
