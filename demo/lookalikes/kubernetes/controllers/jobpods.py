"""The pods of Jobs: created, and released once they are counted."""

from demo.lookalikes.kubernetes.controllers.jobstatus import INDEX, TRACKING
from demo.lookalikes.kubernetes.controllers.podmaking import Tools
from demo.lookalikes.kubernetes.objects import Json, metadata, name_of, namespace_of, suffix


class JobPods:
    """The pods of all jobs. A finalizer holds each one until its job has counted it."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._jobs = tools.cluster.kinds.named("jobs")
        self._pods = tools.cluster.kinds.named("pods")

    def start(self, job: Json, meta: Json, spec: Json) -> None:
        """Create a pod from the job's template with additional metadata and spec."""
        meta = {**meta, "finalizers": [TRACKING]}
        self._tools.create_pod(self._jobs, job, job["spec"]["template"], meta, spec)

    def start_indexed(self, job: Json, index: int) -> None:
        """Create the pod of one index, which is in its environment, label, annotation and name."""
        template_spec = job["spec"]["template"].get("spec") or {}
        source = {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.labels['{INDEX}']"}}
        variable = {"name": "JOB_COMPLETION_INDEX", "valueFrom": source}
        containers = [
            {**c, "env": [*(c.get("env") or ()), variable]} for c in template_spec.get("containers") or ()
        ]
        stem, index_entry = f"{name_of(job)}-{index}", {INDEX: str(index)}
        meta = {
            "name": f"{stem}-{suffix()}",
            "generateName": f"{stem}-",
            "labels": index_entry,
            "annotations": index_entry,
        }
        self.start(job, meta, {"containers": containers, "hostname": stem})

    def untrack(self, pod: Json) -> None:
        """Remove the finalizer; a pod that is being deleted is then gone."""
        stored = self._tools.cluster.store.get(self._pods, namespace_of(pod), name_of(pod))
        if stored is None or TRACKING not in (metadata(stored.tree).get("finalizers") or ()):
            return
        remaining = [finalizer for finalizer in metadata(stored.tree)["finalizers"] if finalizer != TRACKING]
        self._tools.cluster.update(
            stored, {**stored.tree, "metadata": {**metadata(stored.tree), "finalizers": remaining}}
        )


def index_of(pod: Json) -> int:
    """Return the pod's completion index, or -1."""
    return int((metadata(pod).get("annotations") or {}).get(INDEX, -1))
