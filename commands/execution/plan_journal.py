"""The journal of plans: one stored row for each step that was begun, written before and after it."""

from collections.abc import Sequence
from dataclasses import replace

from alerts.store import StoreSnapshot, Unit
from collectors.facts.clock import Clock
from collectors.facts.sentences import counted, sentence
from commands.execution.holding import Beginnings
from commands.execution.object_refs import ObjectRef
from commands.execution.object_state import name_of
from commands.execution.plan import Plan, PlanState, StepRecord, StepState
from commands.execution.plan_commits import PlanCommits, Stored
from commands.execution.plan_gate import Gate, verdict_on
from commands.execution.plan_outcome import record_outcome
from commands.execution.steps import Record, Step


async def records_of(plan: Plan, snapshot: StoreSnapshot) -> tuple[StepRecord, ...]:
    """Return a record for each step of the plan. Only steps that were begun have a stored one."""
    rows = {row.number: row for row in await snapshot.rows(StepRecord).find(plan=plan.id)}
    records: list[StepRecord] = []
    for number in range(len(plan.steps)):
        record = rows.get(number) or StepRecord(plan=plan.id, number=number, cluster=plan.cluster)
        if number not in rows and plan.has_ended and not _may_be_recorded(plan, number, records):
            record = replace(record, state=StepState.SKIPPED)
        records.append(record)
    return tuple(records)


def new_records(plan: Plan) -> tuple[StepRecord, ...]:
    """Return the records of a plan of which no step has begun."""
    return tuple(
        StepRecord(plan=plan.id, number=number, cluster=plan.cluster) for number in range(len(plan.steps))
    )


def _may_be_recorded(plan: Plan, number: int, records: Sequence[StepRecord]) -> bool:
    """Whether it is a Record step of a step whose outcome is not known yet."""
    recorded = recorded_of(plan.steps, number)
    return recorded is not None and records[recorded].state is StepState.UNKNOWN


def recorded_of(steps: Sequence[Step], number: int) -> int | None:
    """Return the number of the step that a Record step records: the nearest before it that is not a Record.

    One that is about an object records the nearest step that changes it.
    """
    if not isinstance(steps[number], Record):
        return None
    before = [one for one in range(number - 1, -1, -1) if not isinstance(steps[one], Record)]
    about = objects_of(steps[number])
    return next(
        (one for one in before if not about.isdisjoint(objects_of(steps[one]))), next(iter(before), None)
    )


def objects_of(step: Step) -> frozenset[ObjectRef]:
    """Return the objects that a step changes, waits for or speaks of, without their uids."""
    if isinstance(step, Record):
        return frozenset(name_of(one.ref) for one in step.about)
    return frozenset((name_of(step.ref),))


def belongs(steps: Sequence[Step], number: int, earlier: int) -> bool:
    """Whether a step is about an object of an earlier one, or records it."""
    about = objects_of(steps[number])
    return not about.isdisjoint(objects_of(steps[earlier])) or recorded_of(steps, number) == earlier


class Journal:
    """A running plan with the records of its steps, in memory and in the store."""

    def __init__(self, commits: PlanCommits, clock: Clock, plan: Plan, records: Sequence[StepRecord]) -> None:
        self.plan = plan
        self.records = list(records)
        self._commits = commits
        self._clock = clock

    @classmethod
    async def begin(cls, commits: PlanCommits, clock: Clock, plan: Plan, beginnings: Beginnings) -> "Journal":
        """Store the plan as running, unless it was cancelled or a gate holds it back, and read its journal."""

        async def begin(unit: Unit, _stored: Stored) -> tuple[Plan, Sequence[StepRecord]]:
            found, is_new = await beginnings.begin(plan, unit)
            return found, new_records(found) if is_new else await records_of(found, unit)

        with beginnings.expected(plan):
            found, records = await commits.run(plan.id, begin)
        return cls(commits, clock, found, records)

    @property
    def is_held(self) -> bool:
        return self.plan.state is PlanState.WAITING

    @property
    def is_cancelled(self) -> bool:
        return self.plan.state is PlanState.CANCELLED

    async def go_on(self, numbers: range, gate: Gate) -> None:
        """Stop the plan if a gate no longer lets it begin these steps, its next stage."""
        if self.is_cancelled or all(self.records[one].state is not StepState.WAITING for one in numbers):
            return

        async def judge(unit: Unit, plans: Stored) -> Plan:
            stored = plans.get(self.plan.id, self.plan)
            if stored.state is PlanState.RUNNING and (verdict := await verdict_on(stored, gate, unit)).holds:
                reason = sentence("it was stopped before its next stage: {why}", why=verdict.reason)
                stopped = replace(stored, state=PlanState.CANCELLED, error=reason)
                await unit.rows(Plan).put(stopped)
                return stopped
            return self.plan

        self.plan = await self._commits.run(self.plan.id, judge)

    async def write_begin(self, number: int) -> None:
        """Journal that a step begins. One that was begun before keeps its record."""
        if self.records[number].state is not StepState.RUNNING:
            began = StepRecord(
                plan=self.plan.id,
                number=number,
                cluster=self.plan.cluster,
                state=StepState.RUNNING,
                began_at=self._clock.now(),
            )
            await self._write(began)

    async def write_wait(self, number: int, reason: str) -> bool:
        """Journal why a running step waits, if that is new. Return whether the plan was cancelled meanwhile."""
        record = self.records[number]
        await self._write(None if record.outcome == reason else replace(record, outcome=reason))
        return self.is_cancelled

    async def write_end(
        self, number: int, state: StepState, outcome: str, *, uid: str = "", is_ours: bool = True
    ) -> None:
        record = self.records[number]
        ended = replace(
            record, state=state, outcome=outcome, uid=uid, is_ours=is_ours, ended_at=self._clock.now()
        )
        await self._write(ended)

    async def end(self, reason: str = "") -> Plan:
        """Store how the plan ended, with its outcome, from the states of its steps. `reason`: why it was ended."""
        failed = [one for one in self.records if one.state in (StepState.FAILED, StepState.UNKNOWN)]
        if reason or failed:
            state, error = PlanState.FAILED, _failure(failed) if failed else reason
        elif all(one.state is StepState.DONE for one in self.records):
            state, error = PlanState.DONE, ""
        else:
            state, error = PlanState.CANCELLED, self.plan.error or sentence("cancelled while it ran")
        ended = replace(self.plan, state=state, error=error, ended_at=self._clock.now())

        async def end(unit: Unit, _stored: Stored) -> None:
            await unit.rows(Plan).put(ended)
            await record_outcome(unit, ended)

        self.plan = ended
        await self._commits.run(ended.id, end)
        return ended

    async def _write(self, record: StepRecord | None) -> None:
        """Store a record, and learn whether the plan was cancelled meanwhile."""

        async def write(unit: Unit, plans: Stored) -> Plan | None:
            if record is not None:
                await unit.rows(StepRecord).put(record)
            return plans.get(self.plan.id)

        stored = await self._commits.run(self.plan.id, write)
        if stored is not None and stored.state is PlanState.CANCELLED:
            self.plan = stored
        if record is not None:
            self.records[record.number] = record


def _failure(failed: Sequence[StepRecord]) -> str:
    """Return why the first of the steps failed, and how many more did."""
    first, more = failed[0].outcome, len(failed) - 1
    if not more:
        return first
    return counted(
        "{outcome} (and {count} more step)", "{outcome} (and {count} more steps)", outcome=first, count=more
    )
