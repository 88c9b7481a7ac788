"""A look-alike of Kueue, for the look-alike of Kubernetes: a Workload for each labelled object, admitted in its queue.

It admits everything, unless `is_full`. What Kueue would refuse by its webhooks is not refused here.
"""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from collectors.cluster.kinds import KUEUE_WORKLOADS, ResourceKind
from collectors.facts.results import SourceError
from collectors.sources.kubernetes.client import KubernetesClient
from commands.execution.cluster_writer import MERGE_PATCH
from tests.support.custom_kinds import a_definition

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
QUEUE = "kueue.x-k8s.io/queue-name"
API = f"/apis/{KUEUE_WORKLOADS.api}"
_OTHERS = {"clusterqueues": ("ClusterQueue", False), "localqueues": ("LocalQueue", True)}
_OTHERS["workloadpriorityclasses"] = ("WorkloadPriorityClass", False)


def definition_of(plural: str) -> dict[str, Any]:
    """Return a definition of one of Kueue's kinds that are not watched. A class has its value beside its metadata."""
    kind, is_namespaced = _OTHERS[plural]
    made = a_definition(KUEUE_WORKLOADS)
    made["metadata"] = {"name": f"{plural}.{KUEUE_WORKLOADS.group}"}
    made["spec"]["scope"] = "Namespaced" if is_namespaced else "Cluster"
    made["spec"]["names"] = {"plural": plural, "singular": kind.lower(), "kind": kind}
    (version,) = made["spec"]["versions"]
    version["schema"]["openAPIV3Schema"]["properties"]["value"] = {"type": "integer"}
    return made


class KueueLookalike:
    """Kueue on a cluster, for objects of these kinds. `field` is where each is suspended."""

    def __init__(
        self, client: KubernetesClient, kinds: Sequence[tuple[ResourceKind[Any], tuple[str, ...]]]
    ) -> None:
        self._client = client
        self._kinds = kinds
        self.is_full = False

    async def install(self, *queues: str) -> None:
        """Create the definitions, and these ClusterQueues, which take all namespaces."""
        for one in (a_definition(KUEUE_WORKLOADS), *map(definition_of, _OTHERS)):
            await self.call("POST", DEFINITIONS, one)
        for queue in queues:
            made = {"apiVersion": KUEUE_WORKLOADS.api, "kind": "ClusterQueue", "metadata": {"name": queue}}
            await self.call("POST", f"{API}/clusterqueues", {**made, "spec": {"namespaceSelector": {}}})

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            for kind, field in self._kinds:
                with suppress(SourceError):
                    for one in (await self.call("GET", kind.path))["items"]:
                        if QUEUE in (one["metadata"].get("labels") or {}):
                            with suppress(SourceError):
                                await self._reconcile(kind, field, one)
            await asyncio.sleep(0.02)

    async def _reconcile(self, kind: ResourceKind[Any], field: tuple[str, ...], one: Any) -> None:
        meta = one["metadata"]
        if "deletionTimestamp" in meta:
            return
        path = f"{API}/namespaces/{meta['namespace']}/workloads"
        name = f"{kind.kind.lower()}-{meta['name']}"
        found = {each["metadata"]["name"]: each for each in (await self.call("GET", path))["items"]}
        own = found.get(name)
        if own is not None and own["metadata"]["ownerReferences"][0]["uid"] != meta["uid"]:
            await self.call("DELETE", f"{path}/{name}")
            return
        if own is None:
            owner = {"apiVersion": kind.api, "kind": kind.kind, "name": meta["name"], "uid": meta["uid"]}
            tree = {
                "apiVersion": KUEUE_WORKLOADS.api,
                "kind": "Workload",
                "metadata": {"name": name, "ownerReferences": [{**owner, "controller": True}]},
                "spec": {"active": True, "queueName": meta["labels"][QUEUE], "priority": 0},
            }
            await self.call("POST", path, tree)
            return
        may_run = own["spec"].get("active", True) and not self.is_full
        if own["spec"].get("active", True) and self.is_full:
            condition = {"type": "QuotaReserved", "status": "False", "reason": "WaitingForQuota"}
            status = {"conditions": [{**condition, "message": "insufficient quota for nvidia.com/gpu"}]}
            if (own.get("status") or {}) != status:
                await self.call("PATCH", f"{path}/{name}/status", {"status": status})
        if _value(one, field) == may_run:
            root, _, plural = kind.path.rpartition("/")
            body: Any = not may_run
            for key in reversed(field):
                body = {key: body}
            await self.call("PATCH", f"{root}/namespaces/{meta['namespace']}/{plural}/{meta['name']}", body)

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        kind = MERGE_PATCH if method == "PATCH" else ""
        return json.loads(await self._client.call(method, path, body=body, content_type=kind))


def _value(one: Any, field: tuple[str, ...]) -> bool:
    for key in field:
        one = (one or {}).get(key)
    return bool(one)
