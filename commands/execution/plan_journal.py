"""The journal of plans: one stored row for each step that was begun, written before and after it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from alerts.store import StoreSnapshot, Unit
from collectors.facts.clock import Clock
from collectors.facts.sentences import counted, sentence
from commands.execution.holding import Beginnings
from commands.execution.object_refs import ObjectRef
from commands.execution.object_state import name_of
from commands.execution.plan import Plan, PlanState, StepRecord, StepState
from commands.execution.plan_commits import Change, PlanCommits, Reads, Stopping
from commands.execution.plan_gate import Gate, verdict_on
from commands.execution.plan_outcome import of_outcome, record_outcome
from commands.execution.record_steps import put_record
from commands.execution.steps import Record, Step

T = TypeVar("T")


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
    """A running plan with the records of its steps, in memory and in the store.

    What a step begins with is stored before it. How it ended is stored with what follows at once, as a crash between
    the two leaves what a crash in the step leaves: a step whose effect is looked up.
    """

    def __init__(self, commits: PlanCommits, clock: Clock, plan: Plan, records: Sequence[StepRecord]) -> None:
        self.plan = plan
        self.records = list(records)
        self._commits = commits
        self._clock = clock
        self._cut_off = frozenset(one.number for one in records if one.state is StepState.RUNNING)
        self._unstored: dict[int, StepRecord] = {}

    @classmethod
    async def begin(
        cls,
        commits: PlanCommits,
        clock: Clock,
        plan: Plan,
        beginnings: Beginnings,
        *,
        with_step: bool = True,
    ) -> "Journal":
        """Store the plan as running, unless it was cancelled or a gate holds it back, and read its journal.

        `with_step`: the first step of a plan that begins is begun with it.
        """

        async def begin(unit: Unit, _stopping: Stopping) -> "Journal":
            found, is_new = await beginnings.begin(plan, unit)
            if not is_new:
                is_held = found.state is PlanState.WAITING
                records = new_records(found) if is_held else await records_of(found, unit)
                return cls(commits, clock, found, records)
            journal = cls(commits, clock, found, new_records(found))
            is_alone = bool(found.stages) and found.stages[0].at_once == 1
            if with_step and is_alone and not isinstance(found.steps[0], Record):
                await unit.rows(StepRecord).put(journal._begin(0))
            return journal

        with beginnings.expected(plan):
            return await commits.run(plan.id, begin)

    @property
    def is_held(self) -> bool:
        return self.plan.state is PlanState.WAITING

    @property
    def is_cancelled(self) -> bool:
        return self.plan.state is PlanState.CANCELLED

    def was_cut_off(self, number: int) -> bool:
        """Whether an earlier process began the step, and did not end it."""
        return number in self._cut_off

    async def go_on(self, numbers: range, gate: Gate) -> None:
        """Stop the plan if a gate no longer lets it begin these steps, its next stage."""
        if self.is_cancelled or all(self.records[one].state is not StepState.WAITING for one in numbers):
            return

        async def judge(unit: Unit, _stopping: Stopping) -> Plan:
            stored = await unit.rows(Plan).get(self.plan.id) or self.plan
            if stored.state is PlanState.RUNNING and (verdict := await verdict_on(stored, gate, unit)).holds:
                reason = sentence("it was stopped before its next stage: {why}", why=verdict.reason)
                stopped = replace(stored, state=PlanState.CANCELLED, error=reason)
                await unit.rows(Plan).put(stopped)
                return stopped
            return self.plan

        self.plan = await self._commits.run(self.plan.id, judge)

    async def write_begin(self, number: int) -> bool:
        """Journal that a step begins, and return True. One that was begun before keeps its record.

        False, and not begun, if the plan was cancelled meanwhile and the step records none that is done. A Record step
        changes nothing but the store, so that it began is stored with what it writes.
        """
        if self.records[number].state is StepState.RUNNING:
            return True
        if isinstance(self.plan.steps[number], Record):
            self._unstored[number] = self._begin(number)
            return True

        async def begin(unit: Unit, stopping: Stopping) -> bool:
            if self.plan.id not in stopping:
                await unit.rows(StepRecord).put(began)
            return self.plan.id not in stopping

        began = self._began(number)
        if is_begun := await self._commit(begin):
            self.records[number] = began
        return is_begun

    def _began(self, number: int) -> StepRecord:
        return replace(self.records[number], state=StepState.RUNNING, began_at=self._clock.now())

    def _begin(self, number: int) -> StepRecord:
        self.records[number] = self._began(number)
        return self.records[number]

    async def write_wait(self, number: int, reason: str) -> bool:
        """Journal why a running step waits, if that is new. Return whether the plan was cancelled meanwhile."""
        if self.records[number].outcome != reason:
            self.records[number] = self._unstored[number] = replace(self.records[number], outcome=reason)
        await self._commit(_nothing)
        return self.is_cancelled

    async def write_row(self, number: int, step: Record, text: str) -> None:
        """Write the row of a Record step, with the step as done. If that was the last one, the plan ends with it."""
        done = replace(self.records[number], state=StepState.DONE, outcome=text, ended_at=self._clock.now())
        records = [done if one.number == number else one for one in self.records]

        async def put(unit: Unit, stopping: Stopping) -> Plan | None:
            await put_record(unit, step, self.plan.id)
            await unit.rows(StepRecord).put(done)
            if any(one.state is not StepState.DONE for one in records):
                return None
            ended = _ended(stopping.get(self.plan.id, self.plan), records, self._clock.now())
            await _put_ended(unit, ended)
            return ended

        self._unstored.pop(number, None)
        ended = await self._commit(put, of_outcome(self.plan))
        self.records[number] = done
        self.plan = ended or self.plan

    def note_end(
        self, number: int, state: StepState, outcome: str, *, uid: str = "", is_ours: bool = True
    ) -> None:
        """Note how a step ended. It is stored with what follows, or by `store`."""
        record = self.records[number]
        if record.state is not StepState.DONE:  # a Record step is done with its row
            self.records[number] = self._unstored[number] = replace(
                record, state=state, outcome=outcome, uid=uid, is_ours=is_ours, ended_at=self._clock.now()
            )

    async def store(self) -> None:
        """Store what is noted and not stored."""
        if self._unstored:
            await self._commit(_nothing)

    async def end(self, reason: str = "") -> Plan:
        """Store how the plan ended, with its outcome, from the states of its steps. `reason`: why it was ended."""
        if self.plan.has_ended:
            return self.plan
        ended = _ended(self.plan, self.records, self._clock.now(), reason)

        async def end(unit: Unit, _stopping: Stopping) -> None:
            await _put_ended(unit, ended)

        await self._commit(end, of_outcome(self.plan))
        self.plan = ended
        return ended

    async def _commit(self, change: Change[T], reads: Reads = ()) -> T:
        """Commit a change with all that is noted, and learn whether the plan was cancelled meanwhile."""
        noted = dict(self._unstored)

        async def write(unit: Unit, stopping: Stopping) -> tuple[T, Plan | None]:
            for record in noted.values():
                await unit.rows(StepRecord).put(record)
            return await change(unit, stopping), stopping.get(self.plan.id)

        result, stopped = await self._commits.run(self.plan.id, write, reads)
        for number, record in noted.items():
            if self._unstored.get(number) is record:
                del self._unstored[number]
        self.plan = stopped or self.plan
        return result


async def _nothing(_unit: Unit, _stopping: Stopping) -> None:
    pass


async def _put_ended(unit: Unit, plan: Plan) -> None:
    await unit.rows(Plan).put(plan)
    await record_outcome(unit, plan)


def _ended(plan: Plan, records: Sequence[StepRecord], now: datetime, reason: str = "") -> Plan:
    """Return the plan as it ends with these steps. `reason`: why it was ended."""
    failed = [one for one in records if one.state in (StepState.FAILED, StepState.UNKNOWN)]
    if reason or failed:
        state, error = PlanState.FAILED, _failure(failed) if failed else reason
    elif all(one.state is StepState.DONE for one in records):
        state, error = PlanState.DONE, ""
    else:
        state, error = PlanState.CANCELLED, plan.error or sentence("cancelled while it ran")
    return replace(plan, state=state, error=error, ended_at=now)


def _failure(failed: Sequence[StepRecord]) -> str:
    """Return why the first of the steps failed, and how many more did."""
    first, more = failed[0].outcome, len(failed) - 1
    if not more:
        return first
    return counted(
        "{outcome} (and {count} more step)", "{outcome} (and {count} more steps)", outcome=first, count=more
    )
