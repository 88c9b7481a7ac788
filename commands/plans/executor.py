"""This file has the one performer: it does a plan's steps, journals each before and after, and can resume.

A step that was begun and whose outcome nobody knows (the process died) is looked at first: if its effect is
there, it is done; if not, it is done now. Every step is made so that this is safe. A step whose answer got lost
is such a step, too: it is tried again a few times, as one that was begun.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta

import msgspec

from collectors.facts.clock import Clock
from collectors.facts.results import SourceError
from commands.plans.cluster_writer import ClusterWriter
from commands.plans.outcome import record_outcome
from commands.plans.plan import Plan, PlanState, StepRecord, StepState
from commands.plans.preconditions import StepFailedError, check, contains, is_so, value_at
from commands.plans.record_steps import put_record
from commands.plans.steps import Create, Delete, Patch, Record, Scale, Step, Wait
from commands.store import Store

PLAN_ANNOTATION = "yardmaster.io/plan"
MAX_CONFLICTS = 5  # somebody else writes the same object at the same moment
POLL_EVERY = timedelta(seconds=1)
RETRY_AFTER = (1.0, 2.0, 5.0, 10.0, 20.0)  # seconds: the pauses while the cluster gives no answer
Pause = Callable[[float], Awaitable[None]]


class PlanExecutor:
    """Does confirmed plans, one cluster's writer each."""

    def __init__(
        self, store: Store, writers: Mapping[str, ClusterWriter], clock: Clock, pause: Pause = asyncio.sleep
    ) -> None:
        self._store = store
        self._writers = writers
        self._clock = clock
        self._pause = pause

    async def execute(self, plan: Plan) -> Plan:
        """Do what is not done yet of a confirmed or interrupted plan, and give it back finished.

        A plan that was cancelled while it ran ends after the step that was begun, and after what notes that step.
        """
        if plan.has_ended:
            return plan
        plan = await self._save(replace(plan, state=PlanState.RUNNING))
        for number, step in enumerate(plan.steps):
            record = plan.records[number]
            if record.state is StepState.DONE:
                continue
            was_begun = record.state is StepState.RUNNING
            if plan.state is PlanState.CANCELLED and not was_begun and not _notes_what_is_done(plan, number):
                return await self._skip_rest(plan, plan.state, plan.error or "cancelled while it ran")
            begun = record if was_begun else StepRecord(state=StepState.RUNNING, began_at=self._clock.now())
            plan = await self._save(plan.with_record(number, begun))
            try:
                outcome, uid = await self._tried(plan, step, was_begun=was_begun)
            except (StepFailedError, SourceError) as error:
                failed = replace(
                    begun, state=StepState.FAILED, ended_at=self._clock.now(), outcome=str(error)
                )
                return await self._skip_rest(plan.with_record(number, failed), PlanState.FAILED, str(error))
            done = replace(begun, state=StepState.DONE, ended_at=self._clock.now(), outcome=outcome, uid=uid)
            plan = await self._save(plan.with_record(number, done))
        return await self._save(replace(plan, state=PlanState.DONE, error="", ended_at=self._clock.now()))

    async def _tried(self, plan: Plan, step: Step, *, was_begun: bool) -> tuple[str, str]:
        """Do a step. While the cluster does not answer it may have done it: then we look before we do it again."""
        for pause in (*RETRY_AFTER, None):
            try:
                return await self._do(plan, step, was_begun=was_begun)
            except SourceError as error:
                if not error.temporary:
                    raise
                if pause is None:
                    raise StepFailedError(f"{error}. {_how_to_look(step)}") from error
            await self._pause(pause)
            was_begun = True
        raise AssertionError("the last try has no pause")

    async def _do(self, plan: Plan, step: Step, *, was_begun: bool) -> tuple[str, str]:
        """The outcome in words, and the uid of what was made, if anything was."""
        if isinstance(step, Record):
            async with self._store.unit() as unit:
                await put_record(unit, step)
            return "recorded", ""
        writer = self._writers.get(plan.cluster)
        if writer is None:
            raise StepFailedError(f"there is no cluster {plan.cluster} in the settings any more")
        match step:
            case Patch():
                return await self._patch(writer, step, was_begun=was_begun), ""
            case Create():
                return await self._create(writer, step, plan.id, was_begun=was_begun)
            case Delete():
                return await self._delete(writer, step), ""
            case Scale():
                return await self._scale(writer, step), ""
            case Wait():
                return await self._wait(writer, step), ""

    async def _patch(self, writer: ClusterWriter, step: Patch, *, was_begun: bool) -> str:
        for _ in range(MAX_CONFLICTS):
            found = await writer.read(step.ref, step.subresource)
            if found is None:
                raise StepFailedError(f"{step.ref} is not there any more")
            if was_begun and contains(found, step.body):
                return "was done already"
            for fact in step.requires:
                check(found, fact, step.ref)
            try:
                await writer.patch(step, version=found["metadata"].get("resourceVersion", ""))
                return "done"
            except SourceError as error:
                if error.status != 409:
                    raise
        raise StepFailedError(f"{step.ref} is being changed by somebody else all the time")

    async def _create(
        self, writer: ClusterWriter, step: Create, plan: str, *, was_begun: bool
    ) -> tuple[str, str]:
        meta = step.manifest["metadata"]
        noted = {
            **step.manifest,
            "metadata": {**meta, "annotations": {**meta.get("annotations", {}), PLAN_ANNOTATION: plan}},
        }
        try:
            made = await writer.create(msgspec.structs.replace(step, manifest=noted))
            return "created", made["metadata"].get("uid", "")
        except SourceError as error:
            if error.status != 409:
                raise
            refused = str(error)
        try:
            found = await writer.read(step.ref)
        except SourceError as error:
            if error.status == 403 and step.is_secret:
                return ("was created already" if was_begun else "was there already"), ""
            raise
        if found is None:  # a quota that others write, or it is just being deleted
            raise SourceError(f"{step.ref} could not be created: {refused}")
        if found["metadata"].get("annotations", {}).get(PLAN_ANNOTATION) == plan:
            return "was created already", found["metadata"].get("uid", "")
        raise StepFailedError(f"{step.ref} is there already, and is not ours")

    async def _delete(self, writer: ClusterWriter, step: Delete) -> str:
        try:
            await writer.delete(step)
            return "deleted"
        except SourceError as error:
            if error.status == 404:
                return "was gone already"
            if error.status == 409 and await writer.read(step.ref) is None:
                return "was gone already: another one has its name now"
            raise

    async def _scale(self, writer: ClusterWriter, step: Scale) -> str:
        found = await writer.read(step.ref, "scale")
        if found is None:
            raise StepFailedError(f"{step.ref} is not there any more")
        now = found["spec"].get("replicas", 0)
        if now == step.replicas:
            return f"has {now} replicas already"
        if now != step.expected:
            raise StepFailedError(
                f"{step.ref} has {now} replicas now, not {step.expected} as was shown: look again"
            )
        await writer.scale(step)
        return f"scaled from {step.expected} to {step.replicas}"

    async def _wait(self, writer: ClusterWriter, step: Wait) -> str:
        give_up = self._clock.now() + timedelta(seconds=step.seconds)
        seen: object = None
        while True:
            try:
                found = await writer.read(step.ref)
                if found is None:
                    if step.is_gone:
                        return "gone"
                    raise StepFailedError(f"{step.ref} is not there any more")
                seen = value_at(found, step.path)
                if not step.is_gone and is_so(step, seen):
                    return f"{'.'.join(step.path)} is {seen}"
            except SourceError as error:
                if not error.temporary:
                    raise
                seen = f"unknown ({error})"
            if self._clock.now() >= give_up:
                raise StepFailedError(f"{step.description}: not so after {step.seconds:.0f} s; it is {seen}")
            await self._pause(POLL_EVERY.total_seconds())

    async def _save(self, plan: Plan) -> Plan:
        """Journal the plan, with its outcome when it is over.

        A cancellation that came meanwhile is kept: it is seen before the next step.
        """
        async with self._store.unit() as unit:
            kept = await unit.plans.get(plan.id)
            if kept is not None and kept.state is PlanState.CANCELLED and plan.state is PlanState.RUNNING:
                plan = replace(plan, state=PlanState.CANCELLED, error=kept.error)
            await unit.plans.put(plan)
            if plan.has_ended:
                await record_outcome(unit, plan)
        return plan

    async def _skip_rest(self, plan: Plan, state: PlanState, reason: str) -> Plan:
        records = tuple(
            replace(record, state=StepState.SKIPPED) if record.state is StepState.WAITING else record
            for record in plan.records
        )
        over = replace(plan, records=records, state=state, error=reason, ended_at=self._clock.now())
        return await self._save(over)


def _notes_what_is_done(plan: Plan, number: int) -> bool:
    """Whether the step only writes down what the plan has done: a cordon without its lease nobody is reminded of."""
    earlier = number
    while earlier >= 0 and isinstance(plan.steps[earlier], Record):
        earlier -= 1
    return earlier != number and earlier >= 0 and plan.records[earlier].state is StepState.DONE


def _how_to_look(step: Step) -> str:
    if isinstance(step, Record):
        return "Whether it was recorded is not known"
    where = f" -n {step.ref.namespace}" if step.ref.namespace else ""
    look = f"kubectl get {step.ref.kind.lower()} {step.ref.name}{where} -o yaml"
    return f"Whether this step was done is not known: look with `{look}`"
