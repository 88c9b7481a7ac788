"""A look-alike of Kubeflow Trainer's controller, for the look-alike of Kubernetes, beside that of JobSet's.

It makes a JobSet of each TrainJob and its runtime, suspends and resumes it, and says of the job how that has ended.
"""

import asyncio
import json
from typing import Any

from collectors.cluster.kinds import CLUSTER_TRAINING_RUNTIMES, JOBSETS, TRAINING_RUNTIMES, TRAINJOBS
from collectors.facts.results import SourceError
from collectors.sources.kubernetes.client import KubernetesClient
from commands.execution.cluster_writer import MERGE_PATCH
from tests.support.controller_lookalike import DEFINITIONS, has_condition
from tests.support.custom_kinds import a_definition
from tests.support.jobset_controller import JobSetLookalike
from tests.support.reconciling import reconcile_all

_ENDS = {"Completed": "Complete", "Failed": "Failed"}
RUNTIME: dict[str, Any] = {
    "apiVersion": CLUSTER_TRAINING_RUNTIMES.api,
    "kind": "ClusterTrainingRuntime",
    "metadata": {"name": "torch-distributed", "labels": {"trainer.kubeflow.org/framework": "torch"}},
    "spec": {
        "mlPolicy": {"numNodes": 1, "torch": {}},
        "template": {
            "spec": {
                "replicatedJobs": [
                    {
                        "name": "node",
                        "template": {
                            "metadata": {
                                "labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
                            },
                            "spec": {
                                "template": {"spec": {"containers": [{"name": "node", "image": "pytorch:2"}]}}
                            },
                        },
                    }
                ]
            }
        },
    },
}


class TrainerLookalike:
    """Trainer and JobSet on a cluster, with the runtime `torch-distributed`."""

    def __init__(self, client: KubernetesClient) -> None:
        self._client = client
        self._jobsets = JobSetLookalike(client)

    async def install(self) -> None:
        await self._jobsets.install()
        for kind in (TRAINJOBS, TRAINING_RUNTIMES, CLUSTER_TRAINING_RUNTIMES):
            await self._call("POST", DEFINITIONS, a_definition(kind))
        await self._call("POST", CLUSTER_TRAINING_RUNTIMES.path, RUNTIME)

    async def run(self) -> None:
        """Run until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._jobsets.run())
            group.create_task(reconcile_all(self._call, TRAINJOBS.path, self._reconcile))

    async def _reconcile(self, one: Any) -> None:
        meta, spec = one["metadata"], one["spec"]
        if "deletionTimestamp" in meta or has_condition(one, *_ENDS.values()):
            return
        path = f"{_of(JOBSETS.path, meta['namespace'])}/{meta['name']}"
        is_suspended = bool(spec.get("suspend"))
        try:
            jobset = await self._call("GET", path)
        except SourceError:
            await self._call("POST", path.rpartition("/")[0], await self._jobset(one))
            return
        if jobset["metadata"]["ownerReferences"][0]["uid"] != meta["uid"]:
            return  # of the job before it, which is being deleted
        if bool(jobset["spec"].get("suspend")) != is_suspended:
            await self._call("PATCH", path, {"spec": {"suspend": is_suspended}})
        for condition in (jobset.get("status") or {}).get("conditions") or ():
            if end := _ENDS.get(condition["type"]):
                status = {"conditions": [{**condition, "type": end}]}
                await self._call(
                    "PATCH",
                    f"{_of(TRAINJOBS.path, meta['namespace'])}/{meta['name']}/status",
                    {"status": status},
                )

    async def _jobset(self, one: Any) -> Any:
        meta, spec = one["metadata"], one["spec"]
        runtime = await self._call("GET", f"{CLUSTER_TRAINING_RUNTIMES.path}/{spec['runtimeRef']['name']}")
        (job,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
        trainer = spec.get("trainer") or {}
        nodes = trainer.get("numNodes") or runtime["spec"]["mlPolicy"]["numNodes"]
        pod = job["template"]["spec"]["template"]["spec"]
        container = {
            **pod["containers"][0],
            **{key: trainer[key] for key in ("image", "command", "args", "env") if key in trainer},
        }
        if resources := trainer.get("resourcesPerNode"):
            container["resources"] = resources
        labels: dict[str, str] = {}
        for patch in spec.get("runtimePatches") or ():
            for patched in patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]:
                of_pods = patched["template"]["spec"]["template"]
                labels |= (of_pods.get("metadata") or {}).get("labels") or {}
                changed = dict(of_pods.get("spec") or {})
                for mounted in changed.pop("containers", ()):
                    container = {**container, "volumeMounts": mounted["volumeMounts"]}
                pod = {**pod, **changed}
        template = {
            "metadata": {"labels": labels},
            "spec": {**pod, "containers": [container], "restartPolicy": "Never"},
        }
        work = {"parallelism": nodes, "completions": nodes, "completionMode": "Indexed", "backoffLimit": 0}
        replicated = {
            "name": "node",
            "replicas": 1,
            "template": {**job["template"], "spec": {**work, "template": template}},
        }
        owner = {"apiVersion": TRAINJOBS.api, "kind": "TrainJob", "name": meta["name"], "uid": meta["uid"]}
        return {
            "apiVersion": JOBSETS.api,
            "kind": "JobSet",
            "metadata": {
                "name": meta["name"],
                "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
            },
            "spec": {
                "suspend": bool(spec.get("suspend")),
                "network": {"subdomain": meta["name"]},
                "successPolicy": {"targetReplicatedJobs": ["node"]},
                "replicatedJobs": [replicated],
            },
        }

    async def _call(self, method: str, path: str, body: Any = None) -> Any:
        kind = MERGE_PATCH if method == "PATCH" else ""
        return json.loads(await self._client.call(method, path, body=body, content_type=kind))


def _of(path: str, namespace: str) -> str:
    root, _, plural = path.rpartition("/")
    return f"{root}/namespaces/{namespace}/{plural}"
