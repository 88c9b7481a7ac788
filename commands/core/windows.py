"""The windows of the settings: the gate that holds plans back in them, by the clock."""

from collections.abc import Sequence
from dataclasses import dataclass

from alerts.store import StoreSnapshot
from collectors.facts.clock import Clock
from commands.execution.automation_ids import is_automation
from commands.execution.plan import Plan
from commands.execution.plan_gate import GateVerdict
from commands.gates.budget import Budget
from commands.gates.window import PlannedWindow, budget_of_automation, held_by_windows


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowGate:
    """Quiet hours and maintenance windows, and what they let go on."""

    windows: Sequence[PlannedWindow]
    clock: Clock

    async def __call__(self, plan: Plan, _rows: StoreSnapshot) -> GateVerdict:
        return held_by_windows(self.windows, plan, self.clock.now(), is_automation=is_automation(plan.actor))

    def of_automation(self, cluster: str) -> Budget:
        """Return what automation may take out of a pool of the cluster now."""
        return budget_of_automation(self.windows, cluster, self.clock.now())
