"""Look-alikes of the controllers of trainings, for the look-alike of Kubernetes.

They make and end pods, and write the status, as the real ones were seen to do. What is looked at is what Yardmaster
reads and writes: pods with their labels and owners, suspension, how the object ends, and its deletion.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collectors.cluster import kinds
from collectors.cluster.kinds import ResourceKind
from collectors.sources.kubernetes.client import KubernetesClient
from commands.execution.cluster_writer import MERGE_PATCH
from tests.support.custom_kinds import a_definition
from tests.support.reconciling import reconcile_all

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


AT = "2026-11-21T11:00:00Z"


@dataclass(frozen=True, kw_only=True)
class MadePod:
    """A pod that a controller wants: its name, its role, and what it is made of."""

    name: str
    role: str
    template: Mapping[str, Any]
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    by_job: bool = False  # a Job of its name makes it


@dataclass(frozen=True, kw_only=True)
class Seen:
    """The pods of an object, by name."""

    pods: Mapping[str, Any]
    roles: Mapping[str, str]  # of the pods that are wanted

    def phases(self, role: str = "") -> list[str]:
        return [
            str(self.pods[name]["status"].get("phase", "Pending")) if name in self.pods else ""
            for name, of in self.roles.items()
            if not role or of == role
        ]


def _nothing(_one: Any, _action: str) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, kw_only=True)
class KindController:
    """How the controller of a kind acts.

    `pods` are those that it wants, `end` returns `Succeeded` or `Failed` once the object has ended, and `status` what
    the status says: of `Suspended`, `Running`, `Created`, or how it has ended.
    """

    objects: ResourceKind[Any]
    pods: Callable[[Any], Sequence[MadePod]]
    is_suspended: Callable[[Any], bool]
    end: Callable[[Any, Seen], str]
    status: Callable[[Any, str], Mapping[str, Any]]
    is_over: Callable[[Any], bool]
    obeys: tuple[str, str] = ("", "")  # the API version and the kind of the orders that it takes
    obey: Callable[[Any, str], Mapping[str, Any]] = _nothing  # the status after an action that is ordered


class ControllerLookalike:
    """The controller of a kind, on a cluster."""

    def __init__(self, client: KubernetesClient, row: KindController) -> None:
        self._client = client
        self._row = row

    async def install(self) -> None:
        await self.call("POST", DEFINITIONS, a_definition(self._row.objects))
        if self._row.obeys[0]:
            await self.call("POST", DEFINITIONS, _definition_of_orders(*self._row.obeys))

    async def run(self) -> None:
        """Run until cancelled."""
        await reconcile_all(self.call, self._row.objects.path, self._reconcile)

    async def _reconcile(self, one: Any) -> None:
        if "deletionTimestamp" in one["metadata"] or self._row.is_over(one):
            return
        namespace = one["metadata"]["namespace"]
        if self._row.obeys[0] and await self._obeyed(one):
            return
        path = f"/api/v1/namespaces/{namespace}/pods"
        wanted = {made.name: made for made in self._row.pods(one)}
        jobs = await self._jobs(one, [made for made in wanted.values() if made.by_job])
        names = {one["metadata"]["uid"]: "", **jobs}
        own = {
            names[owner["uid"]] or pod["metadata"]["name"]: pod
            for pod in (await self.call("GET", path))["items"]
            for owner in pod["metadata"].get("ownerReferences", ())
            if owner["uid"] in names
        }
        if self._row.is_suspended(one):
            await self._delete(path, {name: pod for name, pod in own.items() if name not in jobs.values()})
            await self._say(one, "Suspended")
            return
        await self._delete(path, {name: pod for name, pod in own.items() if name not in wanted})
        for name, made in wanted.items():
            if name not in own and not made.by_job:
                await self.call("POST", path, self._pod(one, made))
        seen = Seen(pods=own, roles={name: made.role for name, made in wanted.items()})
        if end := self._row.end(one, seen):
            await self._say(one, end)
            ended = {name: pod for name, pod in own.items() if _is_running(pod)}
            await self._delete(path, {pod["metadata"]["name"]: pod for pod in ended.values()})
        else:
            runs = own and all(phase in ("Running", "Succeeded") for phase in seen.phases())
            await self._say(one, "Running" if runs else "Created")

    async def _jobs(self, one: Any, wanted: Sequence[MadePod]) -> dict[str, str]:
        """Create the Jobs that are wanted, suspended as the object is, and return their names by their uids."""
        meta = one["metadata"]
        path = f"/apis/batch/v1/namespaces/{meta['namespace']}/jobs"
        found = {
            job["metadata"]["name"]: job
            for job in ((await self.call("GET", path))["items"] if wanted else ())
            if job["metadata"].get("ownerReferences", [{}])[0].get("uid") == meta["uid"]
        }
        is_suspended = self._row.is_suspended(one)
        for made in wanted:
            if made.name not in found:
                pod = self._pod(one, made)
                template = {"metadata": {key: pod["metadata"][key] for key in ("labels", "annotations")}}
                spec = {"backoffLimit": 0, "suspend": is_suspended}
                job = {
                    "metadata": {"name": made.name, "ownerReferences": pod["metadata"]["ownerReferences"]},
                    "spec": {**spec, "template": {**template, "spec": pod["spec"]}},
                }
                found[made.name] = await self.call("POST", path, job)
            elif bool(found[made.name]["spec"].get("suspend")) != is_suspended:
                await self.call("PATCH", f"{path}/{made.name}", {"spec": {"suspend": is_suspended}})
        return {job["metadata"]["uid"]: name for name, job in found.items()}

    async def _obeyed(self, one: Any) -> bool:
        """Take the orders about an object, as its controller does, and return whether there was one."""
        api, kind = self._row.obeys
        path = f"/apis/{api}/namespaces/{one['metadata']['namespace']}/{kind.lower()}s"
        found = [
            order
            for order in (await self.call("GET", path))["items"]
            if order["target"]["uid"] == one["metadata"]["uid"]
        ]
        for order in found:
            await self.call("DELETE", f"{path}/{order['metadata']['name']}")
            if status := self._row.obey(one, order["action"]):
                await self.call("PATCH", f"{_address(self._row.objects, one)}/status", {"status": status})
        return bool(found)

    async def _say(self, one: Any, state: str) -> None:
        status = self._row.status(one, state)
        now = one.get("status") or {}
        if any(now.get(key) != value for key, value in status.items()):
            await self.call("PATCH", f"{_address(self._row.objects, one)}/status", {"status": status})

    async def _delete(self, path: str, pods: Mapping[str, Any]) -> None:
        for name, pod in pods.items():
            if "deletionTimestamp" not in pod["metadata"]:
                await self.call("DELETE", f"{path}/{name}")

    def _pod(self, one: Any, made: MadePod) -> Any:
        owner = {
            "apiVersion": self._row.objects.api,
            "kind": self._row.objects.kind,
            "name": one["metadata"]["name"],
            "uid": one["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
        meta = made.template.get("metadata") or {}
        return {
            "metadata": {
                "name": made.name,
                "labels": {**(meta.get("labels") or {}), **made.labels},
                "annotations": {**(meta.get("annotations") or {}), **made.annotations},
                "ownerReferences": [owner],
            },
            "spec": {**made.template["spec"], "restartPolicy": "Never"},
        }

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        kind = MERGE_PATCH if method == "PATCH" else ""
        return json.loads(await self._client.call(method, path, body=body, content_type=kind))


def _address(objects: ResourceKind[Any], one: Any) -> str:
    root, _, plural = objects.path.rpartition("/")
    meta = one["metadata"]
    return f"{root}/namespaces/{meta['namespace']}/{plural}/{meta['name']}"


def _is_running(pod: Any) -> bool:
    return pod["status"].get("phase") not in ("Succeeded", "Failed")


def has_condition(one: Any, *types: str) -> bool:
    conditions = (one.get("status") or {}).get("conditions") or ()
    return any(item["type"] in types and item["status"] == "True" for item in conditions)


def _definition_of_orders(api: str, kind: str) -> dict[str, Any]:
    made = a_definition(kinds.JOBSETS)
    group, _, version = api.partition("/")
    made["metadata"] = {"name": f"{kind.lower()}s.{group}"}
    made["spec"] |= {"group": group}
    made["spec"]["names"] = {"plural": f"{kind.lower()}s", "singular": kind.lower(), "kind": kind}
    (served,) = made["spec"]["versions"]
    served["name"] = version
    text, anything = {"type": "string"}, {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served["schema"]["openAPIV3Schema"]["properties"] |= {"action": text, "target": anything}
    return made
