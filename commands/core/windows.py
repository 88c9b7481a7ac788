"""The windows of the settings: the gate that holds plans back in them, by the clock."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from alerts.store import StoreSnapshot
from collectors.facts.clock import Clock
from commands.execution.automation_ids import is_automation
from commands.execution.plan import GateName, Plan
from commands.execution.plan_gate import NONE_HELD, PlanJudge
from commands.gates.budget import Budget
from commands.gates.window import PlannedWindow, budget_of_automation, held_by_windows


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowGate:
    """Quiet hours and maintenance windows, and what they let go on."""

    windows: Sequence[PlannedWindow]
    clock: Clock

    @property
    def name(self) -> GateName:
        return GateName.WINDOW

    async def look(
        self, _plans: Sequence[Plan], _rows: StoreSnapshot, *, held: Collection[str] = NONE_HELD
    ) -> PlanJudge:
        now = self.clock.now()
        return lambda plan: held_by_windows(self.windows, plan, now, is_automation=is_automation(plan.actor))

    def of_automation(self, cluster: str) -> Budget:
        """Return what automation may take out of a pool of the cluster now."""
        return budget_of_automation(self.windows, cluster, self.clock.now())
