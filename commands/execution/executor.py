"""Execution of plans: each step is journalled before and after, so that one that was cut off is resumed.

A step that was started and whose outcome is unknown (the process died, or the response was lost) is checked
first: if its effect is visible it counts as done, otherwise it is run now. Every step is built so that this is
safe. One whose write got no answer for too long stays unknown, and `settling.py` looks at it again.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from weakref import WeakValueDictionary

from alerts.store import Store
from collectors.facts.clock import Clock
from collectors.facts.sentences import said_by, sentence
from collectors.internal_errors import InternalErrors
from commands.execution.cluster_writer import ClusterWriter
from commands.execution.holding import Beginnings, let_go
from commands.execution.hooks import Hooks
from commands.execution.impersonation import Impersonation, NotListedError
from commands.execution.job_runs import JobRuns
from commands.execution.plan import Plan, Stage, StepState
from commands.execution.plan_commits import PlanCommits
from commands.execution.plan_gate import Gate, open_gate
from commands.execution.plan_journal import Journal, belongs, recorded_of
from commands.execution.settling import settle_plan
from commands.execution.step_outcomes import Done, Outcome, Refused, Unknown, Waiting
from commands.execution.step_runner import (
    Monotonic,
    NotRecordedError,
    Pause,
    StepRunner,
    outcome_not_known,
)
from commands.execution.steps import Record
from commands.execution.steps.step_kind import Attempt

_FAILED = (StepState.FAILED, StepState.UNKNOWN)


class PlanExecutor:
    """Runs confirmed plans, each with the writer of its cluster.

    `observe` is called with the kind of each step that ended, and its state.
    """

    def __init__(
        self,
        store: Store,
        writers: Mapping[str, ClusterWriter],
        clock: Clock,
        pause: Pause = asyncio.sleep,
        monotonic: Monotonic = time.monotonic,
        *,
        errors: InternalErrors | None = None,
        gate: Gate = open_gate,
        impersonation: Impersonation | None = None,
        observe: Callable[[str, str], None] = lambda _kind, _outcome: None,
        hooks: Hooks | None = None,
    ) -> None:
        self._store = store
        self._commits = PlanCommits(store)
        self._observe = observe
        self._hooks = hooks
        self._gate = gate
        self._beginnings = Beginnings(clock, gate)
        self._impersonation = impersonation or Impersonation()
        self._writers = writers
        self._clock = clock
        self._errors = errors or InternalErrors()
        self._runner = StepRunner(pause, monotonic, errors=self._errors)
        self._rows: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    async def execute(self, plan: Plan) -> Plan:
        """Run the remaining steps of a confirmed or interrupted plan, and return the finished plan.

        One that the gate holds back is returned as it is. One that is cancelled while it runs ends after the steps
        in progress and the record steps that belong to them.
        """
        if plan.has_ended:
            return plan
        journal = await Journal.begin(self._commits, self._clock, plan, self._beginnings)
        if journal.plan.has_ended or journal.is_held:
            return journal.plan
        first = 0
        for stage in plan.stages:
            if first:
                await journal.go_on(range(first, first + len(stage.steps)), self._gate)
            await self._run_stage(journal, stage, first)
            first += len(stage.steps)
        return await journal.end()

    async def let_go(self, plans: Sequence[Plan]) -> list[Plan]:
        """Judge all plans that wait by one look. Return those that nothing holds back, the oldest first.

        What is new of the others is stored: why they wait, or that they have waited for too long.
        """
        return await let_go([plan.id for plan in plans], self._store, self._clock, self._gate)

    async def _run_stage(self, journal: Journal, stage: Stage, first: int) -> None:
        slots = asyncio.Semaphore(stage.at_once)
        numbers = range(first, first + len(stage.steps))
        if stage.at_once == 1:
            for number in numbers:
                apart = range(first, number) if stage.is_apart else range(0)
                await self._run_step(journal, number, slots, after=number, apart=apart)
            return
        async with asyncio.TaskGroup() as group:
            for number in numbers:
                group.create_task(self._run_step(journal, number, slots, after=first, is_beside_others=True))

    async def _run_step(
        self,
        journal: Journal,
        number: int,
        slots: asyncio.Semaphore,
        *,
        after: int,
        apart: range = range(0),
        is_beside_others: bool = False,
    ) -> None:
        """Run one step, unless it is over or one of the first `after` steps stops it.

        How one ended that runs beside others is stored at once, as nothing follows it at once.
        """
        async with slots:
            if not _may_run(journal, number, after, apart):
                return
            if not await journal.write_begin(number):
                return
            outcome = await self._outcome(journal, number, slots, was_begun=journal.was_cut_off(number))
        match outcome:
            case Done():
                journal.note_end(
                    number, StepState.DONE, outcome.text, uid=outcome.uid, is_ours=outcome.is_ours
                )
            case Refused():
                journal.note_end(number, StepState.FAILED, outcome.reason)
            case Unknown():
                journal.note_end(number, StepState.UNKNOWN, outcome.reason)
            case Waiting():
                journal.note_end(
                    number,
                    StepState.SKIPPED,
                    sentence("stopped while it waited: {reason}", reason=outcome.reason),
                )
        if is_beside_others:
            await journal.store()
        step = journal.plan.steps[number]
        self._observe(type(step).__name__.lower(), journal.records[number].state.value)

    async def _outcome(
        self, journal: Journal, number: int, slots: asyncio.Semaphore, *, was_begun: bool
    ) -> Outcome:
        step, plan = journal.plan.steps[number], journal.plan
        if (own := self._writers.get(plan.cluster)) is None:
            return Refused(
                reason=sentence("cluster {cluster} is no longer in the settings", cluster=plan.cluster)
            )
        try:
            writer = self._impersonation.writer_for(
                own, cluster=plan.cluster, person=plan.actor, name=plan.actor_name
            )
        except NotListedError as error:
            return Refused(reason=said_by(error))
        if isinstance(step, Record):
            return await self._recorded(journal, number, slots, writer)
        runs = JobRuns(self._store, self._clock, cluster=plan.cluster, plan=plan.id)
        attempt = Attempt(writer, plan=plan.id, was_sent=was_begun, runs=runs, hooks=self._hooks)
        if was_begun and journal.is_cancelled:
            return await self._runner.look(step, attempt)

        return await self._runner.run(step, attempt, slots, partial(journal.write_wait, number))

    async def _recorded(
        self, journal: Journal, number: int, slots: asyncio.Semaphore, writer: ClusterWriter
    ) -> Outcome:
        """Run a Record step. One of a step that was done is not lost: while the cluster is dark, it is unknown.

        Raises an error of the store, as it may pass: the plan is resumed.
        """
        step, plan = journal.plan.steps[number], journal.plan
        assert isinstance(step, Record)
        recorded = recorded_of(plan.steps, number)
        is_of_done = recorded is not None and journal.records[recorded].state is StepState.DONE
        alone = self._rows.setdefault((step.table, step.id), asyncio.Lock())
        put = partial(_put, journal, number)
        attempt = Attempt(writer, plan=plan.id, put=put, was_sent=is_of_done, alone=alone)

        try:
            return await self._runner.run(step, attempt, slots, partial(journal.write_wait, number))
        except NotRecordedError as error:
            raise error.why from None

    async def abandon(self, plan: Plan, error: Exception) -> Plan:
        """End a plan that an unexpected error stops each time. What is known of its steps stays as it is."""
        beginnings = Beginnings(self._clock, open_gate)
        journal = await Journal.begin(self._commits, self._clock, plan, beginnings, with_step=False)
        if journal.plan.has_ended:
            return journal.plan
        contained = self._errors.contain(error, "plan", plan=plan.id)
        for record, step in zip(tuple(journal.records), journal.plan.steps, strict=True):
            if record.state is not StepState.RUNNING:
                continue
            if isinstance(step, Record):
                reason = sentence("{why}. It is not known whether it was recorded", why=contained)
                journal.note_end(record.number, StepState.FAILED, reason)
            else:
                journal.note_end(record.number, StepState.UNKNOWN, outcome_not_known(step, contained))
        return await journal.end(contained)

    async def settle(self, plan: Plan) -> Plan:
        """Look again at the steps of an ended plan whose outcome is not known. Raises SourceError."""
        writer = self._writers.get(plan.cluster)
        return plan if writer is None else await settle_plan(plan, writer, self._store, self._clock.now())


async def _put(journal: Journal, number: int, step: Record, text: str) -> None:
    try:
        await journal.write_row(number, step, text)
    except Exception as error:
        raise NotRecordedError(error) from error


def _may_run(journal: Journal, number: int, after: int, apart: range) -> bool:
    """Whether the step is to be run. After a failure only what records a done step is: a cordon needs its lease.

    A step of `apart` that was refused stops only what is about the same objects, or records it.
    """
    state = journal.records[number].state
    if state is not StepState.WAITING:
        return state is StepState.RUNNING
    failed = [one for one in journal.records[:after] if one.state in _FAILED]
    stopping = [
        one
        for one in failed
        if one.state is StepState.UNKNOWN
        or one.number not in apart
        or belongs(journal.plan.steps, number, one.number)
    ]
    if not journal.is_cancelled and not stopping:
        return True
    recorded = recorded_of(journal.plan.steps, number)
    return recorded is not None and journal.records[recorded].state is StepState.DONE
