"""This file starts a Job's pods and frees those that are counted."""

from __future__ import annotations

from demo.lookalikes.kubernetes.controllers.jobstatus import INDEX, TRACKING
from demo.lookalikes.kubernetes.controllers.podmaking import Tools
from demo.lookalikes.kubernetes.objects import Json, metadata, name_of, namespace_of, suffix


class JobPods:
    """The pods of all jobs: each is held by a finalizer until its job has counted it."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._jobs = tools.cluster.kinds.named("jobs")
        self._pods = tools.cluster.kinds.named("pods")

    def start(self, job: Json, meta: Json, spec: Json) -> None:
        """Start one pod of the job's template, with more metadata and spec."""
        meta = {**meta, "finalizers": [TRACKING]}
        self._tools.create_pod(self._jobs, job, job["spec"]["template"], meta, spec)

    def start_indexed(self, job: Json, index: int) -> None:
        """Start the pod of one index: it learns its number from a variable, a label, an annotation and its name."""
        template_spec = job["spec"]["template"].get("spec") or {}
        source = {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.labels['{INDEX}']"}}
        variable = {"name": "JOB_COMPLETION_INDEX", "valueFrom": source}
        containers = [
            {**c, "env": [*(c.get("env") or ()), variable]} for c in template_spec.get("containers") or ()
        ]
        stem, marks = f"{name_of(job)}-{index}", {INDEX: str(index)}
        meta = {
            "name": f"{stem}-{suffix()}",
            "generateName": f"{stem}-",
            "labels": marks,
            "annotations": marks,
        }
        self.start(job, meta, {"containers": containers, "hostname": stem})

    def untrack(self, pod: Json) -> None:
        """Take the finalizer off: a pod that waits for its end goes now."""
        stored = self._tools.cluster.store.get(self._pods, namespace_of(pod), name_of(pod))
        if stored is None or TRACKING not in (metadata(stored.tree).get("finalizers") or ()):
            return
        left = [finalizer for finalizer in metadata(stored.tree)["finalizers"] if finalizer != TRACKING]
        self._tools.cluster.update(
            stored, {**stored.tree, "metadata": {**metadata(stored.tree), "finalizers": left}}
        )


def index_of(pod: Json) -> int:
    """Return the pod's completion index, or -1."""
    return int((metadata(pod).get("annotations") or {}).get(INDEX, -1))
