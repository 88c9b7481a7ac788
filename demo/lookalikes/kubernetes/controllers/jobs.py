"""Jobs: parallel pods, each counted once, until enough have succeeded or too many have failed."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from demo.lookalikes.kubernetes.controllers.indexes import controller_key, own_key
from demo.lookalikes.kubernetes.controllers.jobpods import JobPods, index_of
from demo.lookalikes.kubernetes.controllers.jobstatus import (
    TRACKING,
    Outcome,
    failure_of,
    indexes_of,
    indexes_text,
    success_of,
)
from demo.lookalikes.kubernetes.controllers.podmaking import Tools, active, deletion_order
from demo.lookalikes.kubernetes.deletion import DeleteOptions
from demo.lookalikes.kubernetes.eviction import ready
from demo.lookalikes.kubernetes.objects import (
    Json,
    deleting,
    dig,
    metadata,
    moment_of,
    name_of,
    namespace_of,
    stamp,
)
from demo.lookalikes.kubernetes.objects import condition as condition_of
from demo.lookalikes.kubernetes.store import Change, ObjectKey

_FIRST_BACKOFF, _LONGEST_BACKOFF = timedelta(seconds=10), timedelta(minutes=10)


class Jobs:
    """The Job controller."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._kind = tools.cluster.kinds.named("jobs")
        self._pods = tools.cluster.kinds.named("pods")
        self._workers = JobPods(tools)
        # job uid -> consecutive failures, time of the last one
        self._failed_at: dict[str, tuple[int, datetime]] = {}

    def concerns(self, change: Change) -> Iterable[ObjectKey]:
        yield from own_key(change, self._kind.listing)
        if change.kind.listing == "pods":
            yield from controller_key(change, "Job")

    def reconcile(self, key: ObjectKey) -> datetime | None:
        stored = self._tools.cluster.store.get(self._kind, *key)
        if stored is None:
            self._release(key)
            return None
        tree = stored.tree
        if deleting(tree):
            for pod in self._tools.indexes.owned(tree, "pods"):
                self._workers.untrack(pod)
            return None
        if _is_finished(tree):
            return self._clean_up(tree)
        return self._advance(tree)

    def _release(self, key: ObjectKey) -> None:
        """Release the pods of a deleted job, which no longer counts them."""
        for stored in self._tools.cluster.store.all(self._pods, key[0]):
            for reference in metadata(stored.tree).get("ownerReferences") or ():
                if reference["kind"] == "Job" and reference["name"] == key[1]:
                    self._workers.untrack(stored.tree)

    def _advance(self, tree: Json) -> datetime | None:
        now, spec = self._tools.cluster.clock(), tree["spec"]
        status = dict(tree.get("status") or {})
        pods = self._tools.indexes.owned(tree, "pods")
        outcome = self._count(tree, status, pods)
        pods = [pod for pod in pods if TRACKING in (metadata(pod).get("finalizers") or ())]
        running = [pod for pod in pods if active(pod)]
        if not spec.get("suspend") and "startTime" not in status:
            status["startTime"] = stamp(now)
        due: datetime | None = None
        if end := self._end(tree, status, outcome, now):
            for pod in running:
                self._tools.delete_pod(self._kind, tree, pod)
            self._finish(tree, status, end, now)
        elif spec.get("suspend"):
            for pod in running:
                self._workers.untrack(pod)  # first: how a pod that suspension deletes ends counts nowhere
                self._tools.delete_pod(self._kind, tree, pod)
            status.pop("startTime", None)
            self._set(status, "Suspended", "True", "JobSuspended", "Job suspended", now)
        else:
            if (condition_of(tree, "Suspended") or {}).get("status") == "True":
                self._set(status, "Suspended", "False", "JobResumed", "Job resumed", now)
            due = self._adjust_pods(tree, status, running, now)
        self._write(tree, status)
        deadline = spec.get("activeDeadlineSeconds")
        if deadline is not None and status.get("startTime") and not _has_outcome(status):
            ends = (moment_of(status["startTime"]) or now) + timedelta(seconds=deadline)
            due = min(due, ends) if due else ends
        return due

    def _count(self, tree: Json, status: Json, pods: list[Json]) -> Outcome:
        """Count the pods that have ended since the last call, each once, and release them."""
        done = indexes_of(status.get("completedIndexes", ""))
        indexed = tree["spec"].get("completionMode") == "Indexed"
        failure: Json | None = None
        ignored = 0
        for pod in pods:
            if TRACKING not in (metadata(pod).get("finalizers") or ()):
                continue
            phase = dig(pod, "status", "phase")
            is_gone = deleting(pod) and tree["spec"].get("podReplacementPolicy") != "Failed"
            if phase == "Succeeded":
                if indexed:
                    done.add(index_of(pod))
                else:
                    status["succeeded"] = status.get("succeeded", 0) + 1
                self._failed_at.pop(metadata(tree)["uid"], None)
            elif indexed and index_of(pod) >= tree["spec"].get("completions", 0):
                pass  # the job was scaled down: how the pods of the indexes that it lost end counts nowhere
            elif phase == "Failed" or is_gone:
                action, text = failure_of(tree, pod)
                if action == "Ignore":
                    ignored += 1
                else:
                    status["failed"] = status.get("failed", 0) + 1
                    count = self._failed_at.get(metadata(tree)["uid"], (0, self._tools.cluster.clock()))[0]
                    self._failed_at[metadata(tree)["uid"]] = (count + 1, self._tools.cluster.clock())
                if action == "FailJob":
                    failure = {"reason": "PodFailurePolicy", "message": text}
            else:
                continue
            self._workers.untrack(pod)
        if indexed:
            status["succeeded"] = len(done)
            status["completedIndexes"] = indexes_text(done)
        return Outcome(done=frozenset(done), stopped=failure)

    def _end(self, tree: Json, status: Json, outcome: Outcome, now: datetime) -> Json | None:
        """Return the interim condition of a job that is ending, or None."""
        for kind in ("SuccessCriteriaMet", "FailureTarget"):
            if found := condition_of({"status": status}, kind):
                return found
        if outcome.stopped:
            return {"type": "FailureTarget", **outcome.stopped}
        spec = tree["spec"]
        if status.get("failed", 0) > spec.get("backoffLimit", 6):
            text = "Job has reached the specified backoff limit"
            return {"type": "FailureTarget", "reason": "BackoffLimitExceeded", "message": text}
        deadline, started = spec.get("activeDeadlineSeconds"), moment_of(status.get("startTime"))
        ends = started + timedelta(seconds=deadline) if started and deadline is not None else None
        if ends and now >= ends and not spec.get("suspend"):
            text = "Job was active longer than specified deadline"
            return {"type": "FailureTarget", "reason": "DeadlineExceeded", "message": text}
        return success_of(tree, status, outcome, self._tools.indexes.owned(tree, "pods"))

    def _finish(self, tree: Json, status: Json, end: Json, now: datetime) -> None:
        """Record the end of the job: first the interim condition, and the final one when no pod runs."""
        self._set(status, end["type"], "True", end["reason"], end["message"], now)
        unfinished = [
            pod
            for pod in self._tools.indexes.owned(tree, "pods")
            if dig(pod, "status", "phase") not in ("Succeeded", "Failed")
        ]
        if unfinished:
            return
        if end["type"] == "SuccessCriteriaMet":
            self._set(status, "Complete", "True", end["reason"], end["message"], now)
            status["completionTime"] = stamp(now)
            self._tools.events.record(tree, "Job", "Completed", "Job completed", "job-controller")
        else:
            self._set(status, "Failed", "True", end["reason"], end["message"], now)
            self._tools.events.record(
                tree, "Job", end["reason"], end["message"], "job-controller", warning=True
            )

    @staticmethod
    def _set(status: Json, kind: str, value: str, reason: str, message: str, now: datetime) -> None:
        conditions = list(status.get("conditions") or ())
        old = next((c for c in conditions if c["type"] == kind), None)
        if old is not None and old["status"] == value:
            return
        row = {"type": kind, "status": value, "lastProbeTime": stamp(now), "lastTransitionTime": stamp(now),
               "reason": reason, "message": message}  # fmt: skip
        status["conditions"] = [*(c for c in conditions if c["type"] != kind), row]

    def _adjust_pods(self, tree: Json, status: Json, running: list[Json], now: datetime) -> datetime | None:
        """Create or delete pods to match the parallelism, and return when a back-off ends."""
        spec = tree["spec"]
        desired, completions = spec.get("parallelism", 1), spec.get("completions")
        if completions is not None:
            desired = min(desired, max(completions - status.get("succeeded", 0), 0))
        elif status.get("succeeded", 0):
            desired = len(running)  # a work queue: after one success no new pod is created
        excess = deletion_order(running)[: max(len(running) - desired, 0)]
        if spec.get("completionMode") == "Indexed":
            excess = [pod for pod in running if index_of(pod) >= (completions or 0)] or excess
        for pod in excess:
            self._tools.delete_pod(self._kind, tree, pod)
        ending = [p for p in self._tools.indexes.owned(tree, "pods") if deleting(p)]
        if spec.get("podReplacementPolicy") == "Failed":
            desired -= len(ending)
        missing = desired - len(running)
        if missing <= 0:
            return None
        failures, last = self._failed_at.get(metadata(tree)["uid"], (0, now))
        if failures:
            ready_at: datetime = last + min(_FIRST_BACKOFF * 2 ** min(failures - 1, 10), _LONGEST_BACKOFF)
            if now < ready_at:
                return ready_at
        if spec.get("completionMode") == "Indexed":
            taken = {index_of(pod) for pod in running} | indexes_of(status.get("completedIndexes", ""))
            free = [index for index in range(completions or 0) if index not in taken]
            for index in free[:missing]:
                self._workers.start_indexed(tree, index)
        else:
            for _ in range(missing):
                self._workers.start(tree, {"generateName": f"{name_of(tree)}-"}, {})
        return None

    def _write(self, tree: Json, status: Json) -> None:
        pods = self._tools.indexes.owned(tree, "pods")
        running = [pod for pod in pods if active(pod)]
        ending = [p for p in pods if deleting(p) and dig(p, "status", "phase") not in ("Succeeded", "Failed")]
        status |= {"active": len(running), "ready": sum(map(ready, running)), "terminating": len(ending)}
        for name in ("active", "succeeded", "failed", "completedIndexes"):
            if not status.get(name):
                status.pop(name, None)
        if not _is_finished({"status": status}) or status.get("conditions"):
            status["uncountedTerminatedPods"] = {}
        self._tools.write_status(self._kind, tree, status)

    def _clean_up(self, tree: Json) -> datetime | None:
        ttl = tree["spec"].get("ttlSecondsAfterFinished")
        if ttl is None:
            return None
        ended = condition_of(tree, "Complete") or condition_of(tree, "Failed") or {}
        ends = (moment_of(ended.get("lastTransitionTime")) or self._tools.cluster.clock()) + timedelta(
            seconds=ttl
        )
        if ends > self._tools.cluster.clock():
            return ends
        options = DeleteOptions(propagation="Foreground")
        self._tools.cluster.delete(self._kind, namespace_of(tree), name_of(tree), options)
        return None


def _has_outcome(status: Json) -> bool:
    return any(c["type"] in ("SuccessCriteriaMet", "FailureTarget") for c in status.get("conditions") or ())


def _is_finished(tree: Json) -> bool:
    return any((condition_of(tree, kind) or {}).get("status") == "True" for kind in ("Complete", "Failed"))
