"""NodeJob: one run of a script of the fixed list on one node, as a Job that is removed afterwards."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence
from commands.execution.job_log import last_line, log_of
from commands.execution.job_runs import JobRun, JobRuns, JobRunState
from commands.execution.job_state import JobEnd, has_begun, job_end_of, selector_of, why_not_begun
from commands.execution.node_effects import NodeEffect, NodeEffects
from commands.execution.object_refs import JsonValue, ObjectReader, ObjectRef, ref_of
from commands.execution.rights import Right
from commands.execution.step_outcomes import Done, Outcome, Refused, Unknown, Waiting
from commands.execution.steps.step_kind import Attempt, DryRun, StepKind, kubectl_get

JOB_PLAN, JOB_RUN = (
    "yardmaster.io/plan",
    "yardmaster.io/run",
)  # annotations: whose Job it is, and of which step
TURN_WITHIN = 600.0  # seconds that it waits for another Job on the node
REMOVED_AFTER = 120.0  # seconds after its longest time, when nobody has removed it
AGAIN_IN = 2.0  # seconds between two looks


class NodeJob(StepKind, frozen=True, kw_only=True, omit_defaults=True, tag="nodejob"):
    """Create a Job on `node` and wait for its end, which is the step's outcome. It has no inverse.

    The Job is named after the node, so the API server lets only one of them be there at a time. Its row is stored
    before it is created and holds its end before it is removed: a run that may have begun is never begun again.

    `needs`: objects without which its pod does not start, such as a claim of GPUs. The Job owns them.
    """

    node: ObjectRef
    manifest: dict[str, JsonValue]
    script: str  # its name in the list
    turn: int = 0  # tells runs of one script on one node in one plan apart
    start_within: float = 180
    run_within: float = 300  # the Job's own deadline
    log_bytes: int = 65_536
    needs: tuple[dict[str, JsonValue], ...] = ()
    is_read: bool = False  # its log is read as a whole, so its last line says nothing to people

    @property
    def ref(self) -> ObjectRef:
        return self.node

    @property
    def job(self) -> ObjectRef:
        return ref_of(self.manifest)

    @property
    def limit(self) -> float:
        return TURN_WITHIN + self._lasts

    @property
    def _lasts(self) -> float:
        return self.start_within + self.run_within + REMOVED_AFTER

    @property
    def how_to_check(self) -> str:
        return kubectl_get(self.job)

    def meaning(self) -> list[object]:
        found = ["NodeJob", self.node, self.script, self.turn, self.manifest, self.start_within]
        return [*found, *self.needs]

    def inverse(self, uid: str) -> None:
        return None

    def on_nodes(self) -> NodeEffects:
        """Its node is disrupted, whatever the script: it runs there as root, or uses the node's GPUs."""
        return {self.node.name: NodeEffect.DISRUPTED}

    def namespaces(self) -> tuple[str, ...]:
        return (self.job.namespace,)

    @classmethod
    def rights(cls, group: str, *resources: str, namespace: str = "") -> tuple[Right, ...]:
        """Return the rights to run Jobs in the namespace. Its pods, their logs and events are read anyway."""
        verbs = ("get", "create", "delete")
        return (Right(group=group, resources=resources, verbs=verbs, namespace=namespace),)

    async def dry_run(self, run: DryRun) -> Outcome:
        if (refused := self._other_node(await run.read(self._named))) is not None:
            return refused
        try:
            for needed in (self._written("", ""), *self.needs):
                await run.writer.create(needed, dry_run=True)
        except SourceError as error:
            if error.status == 404:
                return Refused(reason=self._no_namespace)
            if error.status == 409:
                reason = sentence("another Job of Yardmaster is on {node} now", node=self.node.name)
                return Waiting(reason=reason, blocker=str(self.job))
            raise
        return Done()

    async def apply(self, attempt: Attempt) -> Outcome:
        runs = attempt.runs
        assert runs is not None
        id = runs.id_of(self.node.name, self.script, self.turn)
        run = await runs.get(id)
        if run is not None and run.ended_at is not None:
            return await self._ended(run, attempt)
        found = await attempt.writer.read(self.job)
        if found is None and (lost := self._lost(run, runs)) is not None:
            assert run is not None
            return await self._end(run, runs, JobRunState.LOST, lost, attempt)
        if found is None:
            if (refused := self._other_node(await attempt.writer.read(self._named))) is not None:
                return refused
            run = run or await self._begun(id, runs)
            if isinstance(made := await self._create(id, attempt), Waiting | Refused):
                return made
            found, run = made, replace(run, uid=made["metadata"].get("uid", ""))
            await runs.put(run)
            found = await attempt.writer.read(self.job) or found
        if _is_of(found, runs.plan, id):
            return await self._followed(found, run or await self._begun(id, runs), attempt)
        if run is not None and not run.uid:  # another plan was first: nothing of ours has run
            await runs.forget(run)
        whose = (found["metadata"].get("annotations") or {}).get(JOB_PLAN) or sentence("somebody")
        reason = sentence("plan {plan} runs a Job on {node}", plan=whose, node=self.node.name)
        return Waiting(reason=reason, again_in=AGAIN_IN)

    async def observe(self, reader: ObjectReader, plan: str) -> Outcome:
        found = await reader.read(self.job)
        annotations = (found or {}).get("metadata", {}).get("annotations") or {}
        if found is None or annotations.get(JOB_PLAN) != plan:
            return Refused(reason=sentence("there is no Job of this plan on {node}", node=self.node.name))
        match job_end_of(found, ()):
            case JobEnd(is_success=True):
                return Done(text=sentence("done"), uid=found["metadata"].get("uid", ""))
            case JobEnd(reason=reason):
                return Refused(reason=reason)
            case _:
                return Waiting(reason=sentence("it runs"))

    async def _followed(self, found: Mapping[str, Any], run: JobRun, attempt: Attempt) -> Outcome:
        """Look at the Job that is there: keep its log, and end it where it has ended, or never begins."""
        runs, uid = attempt.runs, found["metadata"].get("uid", "")
        assert runs is not None
        pods = await attempt.writer.listing(self._in_namespace("Pod"), labels=selector_of(found))
        logs = [await log_of(pod, attempt.writer, limit=self.log_bytes) for pod in pods if has_begun([pod])]
        log = next((log for log in logs if log), run.log)
        run, before = replace(run, uid=uid or run.uid, log=log), run
        if (end := job_end_of(found, pods)) is not None:
            state = JobRunState.DONE if end.is_success else JobRunState.FAILED
            ended = replace(run, exit_code=end.exit_code, is_late=end.is_late)
            return await self._end(ended, runs, state, end.reason, attempt)
        refused = self._other_node(await attempt.writer.read(self._named))
        if refused is not None:
            return await self._end(run, runs, JobRunState.LOST, refused.reason, attempt)
        if has_begun(pods):
            if run != before:
                await runs.put(run)
            line = "" if self.is_read else last_line(log)
            said = sentence("it runs: {line}", line=line) if line else sentence("it runs")
            return Waiting(reason=said, again_in=AGAIN_IN)
        if (lacking := await self._make_needs(uid, attempt)) is not None:
            return await self._end(run, runs, JobRunState.FAILED, lacking, attempt)
        events: list[dict[str, Any]] = []
        if not pods:
            name = f"involvedObject.name={self.job.name}"
            events = await attempt.writer.listing(self._in_namespace("Event"), fields=name)
        why = why_not_begun(found, pods, events)
        is_late = runs.now() - run.began_at > timedelta(seconds=self.start_within)
        if why.is_final or is_late:
            never = sentence("it never started: {reason}", reason=why.reason)
            return await self._end(run, runs, JobRunState.FAILED, never, attempt)
        if run != before:
            await runs.put(run)
        return Waiting(reason=sentence("it has not started: {reason}", reason=why.reason), again_in=AGAIN_IN)

    async def _begun(self, id: str, runs: JobRuns) -> JobRun:
        run = JobRun(
            id=id,
            cluster=runs.cluster,
            plan=runs.plan,
            node=self.node.name,
            node_uid=self.node.uid,
            script=self.script,
            namespace=self.job.namespace,
            job=self.job.name,
            began_at=runs.now(),
        )
        return await runs.begin(run, within=timedelta(seconds=self._lasts))

    async def _create(self, id: str, attempt: Attempt) -> dict[str, Any] | Waiting | Refused:
        try:
            return await attempt.send(attempt.writer.create(self._written(attempt.plan, id)))
        except SourceError as error:
            if error.status == 404:
                return Refused(reason=self._no_namespace)
            if error.status != 409:
                raise
            reason = sentence("its Job could not be created: {error}", error=said_by(error))
            return Waiting(reason=reason, again_in=AGAIN_IN)

    async def _make_needs(self, owner: str, attempt: Attempt) -> str | None:
        """Create what the Job's pod needs and is not there yet. Return why it cannot be.

        One of the same name that is left of an earlier Job is waited for until it is gone: a later look creates ours.
        """
        owned = {"apiVersion": self.job.api, "kind": self.job.kind, "name": self.job.name, "uid": owner}
        for needed in self.needs:
            meta = {**needed["metadata"], "ownerReferences": [owned]}
            try:
                await attempt.send(attempt.writer.create({**needed, "metadata": meta}))
            except SourceError as error:
                if error.status == 409:
                    continue
                if error.status is None or error.status >= 500:
                    raise
                return sentence("what its pod needs could not be created: {error}", error=said_by(error))
        return None

    async def _end(
        self,
        run: JobRun,
        runs: JobRuns,
        state: JobRunState,
        reason: str,
        attempt: Attempt,
    ) -> Outcome:
        """Store how it ended, then remove the Job. What cannot be removed now, or comes back, is due to be removed."""
        now = runs.now()
        ended = replace(run, state=state, reason=reason, ended_at=now, remove_at=now)
        await runs.put(ended)
        return await self._ended(ended, attempt)

    async def _ended(self, run: JobRun, attempt: Attempt) -> Outcome:
        if run.uid:
            job = self.job
            made = ObjectRef(api=job.api, kind=job.kind, name=job.name, namespace=job.namespace, uid=run.uid)
            await remove(made, attempt)
            for needed in self.needs:
                await remove(ref_of(needed), attempt)
        line = last_line(run.log)
        match run.state:
            case JobRunState.DONE if self.is_read or not line:
                return Done(text=sentence("done"), uid=run.uid)
            case JobRunState.DONE:
                return Done(text=sentence("done: {line}", line=line), uid=run.uid)
            case JobRunState.LOST:
                return Unknown(reason=run.reason)
            case _:
                said = sentence("{reason}: {line}", reason=run.reason, line=line) if line else run.reason
                return Refused(reason=said)

    def _lost(self, run: JobRun | None, runs: JobRuns) -> str | None:
        """Return why a Job that is not there may not be created, as it may have run."""
        if run is None:
            return None
        is_old = runs.now() - run.began_at > timedelta(seconds=self.start_within)
        if not run.uid and not is_old:
            return None
        return sentence(
            "its Job is gone, and how it ended was not seen: look at {node} before you run it again",
            node=self.node.name,
        )

    def _other_node(self, found: Mapping[str, Any] | None) -> Refused | None:
        """Return why it may not run there: the node is gone, or another one has its name."""
        if found is None:
            return Refused(reason=sentence("{node} is no longer in the cluster", node=self.node.name))
        if self.node.uid and found["metadata"].get("uid") != self.node.uid:
            return Refused(reason=sentence("another node has the name {node} by now", node=self.node.name))
        return None

    @property
    def _named(self) -> ObjectRef:
        return ObjectRef(api=self.node.api, kind=self.node.kind, name=self.node.name)

    @property
    def _no_namespace(self) -> str:
        return sentence(
            "there is no namespace {namespace}: create it, or name another in the setting `node_jobs.namespace`",
            namespace=self.job.namespace,
        )

    def _written(self, plan: str, id: str) -> dict[str, Any]:
        meta = self.manifest["metadata"]
        annotations = {**meta.get("annotations", {}), JOB_PLAN: plan, JOB_RUN: id}
        return {**self.manifest, "metadata": {**meta, "annotations": annotations}}

    def _in_namespace(self, kind: str) -> ObjectRef:
        return ObjectRef(api="v1", kind=kind, name="", namespace=self.job.namespace)


async def remove(job: ObjectRef, attempt: Attempt) -> None:
    """Delete the Job with its pods. One that cannot be deleted now stays due to be."""
    try:
        await attempt.send(attempt.writer.delete(job))
    except SourceError:
        return


def _is_of(found: Mapping[str, Any], plan: str, id: str) -> bool:
    annotations = found["metadata"].get("annotations") or {}
    return annotations.get(JOB_PLAN) == plan and annotations.get(JOB_RUN) == id
