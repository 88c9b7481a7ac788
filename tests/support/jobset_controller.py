"""A look-alike of JobSet's controller, for the look-alike of Kubernetes. It passes the tests of the real one."""

import json
from typing import Any

from collectors.cluster.kinds import JOBSETS
from collectors.sources.kubernetes.client import KubernetesClient
from commands.execution.cluster_writer import MERGE_PATCH
from tests.support.custom_kinds import a_definition
from tests.support.reconciling import reconcile_all

_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_LABEL = "jobset.sigs.k8s.io/"
_AT = "2026-11-21T11:00:00Z"


class JobSetLookalike:
    """Makes the Jobs of JobSets, suspends and resumes them, and says how the JobSet has ended."""

    def __init__(self, client: KubernetesClient) -> None:
        self._client = client

    async def install(self) -> None:
        await self._call("POST", _DEFINITIONS, a_definition(JOBSETS))

    async def run(self) -> None:
        """Run until cancelled."""
        await reconcile_all(self._call, JOBSETS.path, self._reconcile)

    async def _reconcile(self, jobset: Any) -> None:
        meta, spec = jobset["metadata"], jobset["spec"]
        if "deletionTimestamp" in meta or _is_over(jobset):
            return
        path = f"/apis/batch/v1/namespaces/{meta['namespace']}/jobs"
        found = {
            one["metadata"]["name"]: one
            for one in (await self._call("GET", path))["items"]
            if (one["metadata"].get("labels") or {}).get(f"{_LABEL}jobset-name") == meta["name"]
        }
        for role in spec["replicatedJobs"]:
            for index in range(role.get("replicas", 1)):
                name = f"{meta['name']}-{role['name']}-{index}"
                if name not in found:
                    await self._call("POST", path, _job(jobset, role, index, name))
                elif found[name]["spec"].get("suspend", False) != spec.get("suspend", False):
                    patch = {"spec": {"suspend": spec.get("suspend", False)}}
                    await self._call("PATCH", f"{path}/{name}", patch)
        await self._end(jobset, list(found.values()), path)

    async def _end(self, jobset: Any, jobs: list[Any], path: str) -> None:
        targets = jobset["spec"]["successPolicy"]["targetReplicatedJobs"]
        worked = [one for one in jobs if one["metadata"]["labels"][f"{_LABEL}replicatedjob-name"] in targets]
        failed = [one for one in jobs if _has(one, "Failed")]
        if failed:
            name = failed[0]["metadata"]["name"]
            reason, message = (
                "FailedJobs",
                f"jobset failed due to one or more job failures (first failed job: {name})",
            )
        elif worked and all(_has(one, "Complete") for one in worked):
            reason, message = "AllJobsCompleted", "jobset completed successfully"
        else:
            return
        condition = {
            "type": "Failed" if failed else "Completed",
            "status": "True",
            "reason": reason,
            "message": message,
            "lastTransitionTime": _AT,
        }
        meta = jobset["metadata"]
        own = f"{JOBSETS.path.removesuffix('/jobsets')}/namespaces/{meta['namespace']}/jobsets/{meta['name']}"
        await self._call("PATCH", f"{own}/status", {"status": {"conditions": [condition]}})
        for one in jobs:
            if not _has(one, "Failed") and not _has(one, "Complete"):
                await self._call(
                    "DELETE", f"{path}/{one['metadata']['name']}", {"propagationPolicy": "Background"}
                )

    async def _call(self, method: str, path: str, body: Any = None) -> Any:
        kind = MERGE_PATCH if method == "PATCH" else ""
        return json.loads(await self._client.call(method, path, body=body, content_type=kind))


def _job(jobset: Any, role: Any, index: int, name: str) -> Any:
    meta, template = jobset["metadata"], role["template"]
    labels = {
        f"{_LABEL}jobset-name": meta["name"],
        f"{_LABEL}replicatedjob-name": role["name"],
        f"{_LABEL}job-index": str(index),
    }
    owner = {
        "apiVersion": JOBSETS.api,
        "kind": "JobSet",
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    pod = template["spec"]["template"]
    pod_meta = pod.get("metadata") or {}
    pod = {
        "metadata": {**pod_meta, "labels": {**(pod_meta.get("labels") or {}), **labels}},
        "spec": {**pod["spec"], "subdomain": jobset["spec"]["network"]["subdomain"]},
    }
    of_template = template.get("metadata") or {}
    return {
        "metadata": {
            "name": name,
            "labels": {**(of_template.get("labels") or {}), **labels},
            "annotations": of_template.get("annotations") or {},
            "ownerReferences": [owner],
        },
        "spec": {**template["spec"], "suspend": jobset["spec"].get("suspend", False), "template": pod},
    }


def _has(one: Any, type_: str) -> bool:
    conditions = (one.get("status") or {}).get("conditions") or ()
    return any(condition["type"] == type_ and condition["status"] == "True" for condition in conditions)


def _is_over(jobset: Any) -> bool:
    return _has(jobset, "Failed") or _has(jobset, "Completed")
