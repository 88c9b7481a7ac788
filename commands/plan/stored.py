"""Plans by name, with their journal."""

from dataclasses import dataclass

from commands.core.command import UnusableError
from commands.core.context import CommandContext
from commands.plans.plan import Plan, StepRecord
from commands.plans.plan_journal import records_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanName:
    plan: str
    hash: str = ""


async def stored_plan(named: PlanName, context: CommandContext) -> Plan:
    async with context.store.read() as snapshot:
        plan = await snapshot.rows(Plan).get(named.plan)
    if plan is None:
        raise UnusableError(
            f"There is no plan `{named.plan}`. Plans are named p1, p2, …; `audit` lists the latest."
        )
    return plan


async def journal_of(plan: Plan, context: CommandContext) -> tuple[StepRecord, ...]:
    async with context.store.unit() as unit:
        return await records_of(plan, unit)
