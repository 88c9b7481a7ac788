"""The port of plans that ask owners: whom a draft asks, and the requests that its confirmation makes."""

from datetime import datetime
from typing import Protocol

from alerts.store import Unit
from commands.core.command import PlanDraft
from commands.core.context import CommandContext
from commands.execution.plan import Plan


class Consents(Protocol):
    """Asks the owners of what a plan ends. The gate that waits for their answers is one of the pipeline's."""

    async def asked(self, draft: PlanDraft, context: CommandContext) -> PlanDraft:
        """Return the draft with whom it asks about each that it ends."""
        ...

    async def ask(self, unit: Unit, plan: Plan, now: datetime) -> None:
        """Make the requests of a plan, in the transaction that confirms it."""
        ...
