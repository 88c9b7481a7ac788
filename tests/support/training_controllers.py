"""Look-alikes of the controllers of kinds of training, for the look-alike of Kubernetes: a row of CONTROLLERS each.

They make and end pods, and write the status, as the real ones were seen to do. What is looked at is what Yardmaster
reads and writes: pods with their labels and owners, suspension, how the object ends, and its deletion.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from collectors.cluster import kinds
from collectors.cluster.kinds import ResourceKind
from collectors.facts.results import SourceError
from collectors.sources.kubernetes.client import KubernetesClient
from commands.execution.cluster_writer import MERGE_PATCH
from tests.support.custom_kinds import a_definition

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
AT = "2026-11-21T11:00:00Z"
OPERATOR = "training.kubeflow.org/"


@dataclass(frozen=True, kw_only=True)
class MadePod:
    """A pod that a controller wants: its name, its role, and what it is made of."""

    name: str
    role: str
    template: Mapping[str, Any]
    labels: Mapping[str, str]
    annotations: Mapping[str, str]


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
    also: tuple[ResourceKind[Any], ...] = ()  # further custom kinds that its launch writes


class ControllerLookalike:
    """The controller of a kind, on a cluster."""

    def __init__(self, client: KubernetesClient, row: KindController) -> None:
        self._client = client
        self._row = row

    async def install(self) -> None:
        for one in (self._row.objects, *self._row.also):
            await self.call("POST", DEFINITIONS, a_definition(one))

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            with suppress(SourceError):  # the definition is gone, or another client was faster
                for one in (await self.call("GET", self._row.objects.path))["items"]:
                    with suppress(SourceError):
                        await self._reconcile(one)
            await asyncio.sleep(0.02)

    async def _reconcile(self, one: Any) -> None:
        if "deletionTimestamp" in one["metadata"] or self._row.is_over(one):
            return
        namespace = one["metadata"]["namespace"]
        path = f"/api/v1/namespaces/{namespace}/pods"
        wanted = {made.name: made for made in self._row.pods(one)}
        own = {
            pod["metadata"]["name"]: pod
            for pod in (await self.call("GET", path))["items"]
            if any(
                owner["uid"] == one["metadata"]["uid"] for owner in pod["metadata"].get("ownerReferences", ())
            )
        }
        if self._row.is_suspended(one):
            await self._delete(path, own)
            await self._say(one, "Suspended")
            return
        await self._delete(path, {name: pod for name, pod in own.items() if name not in wanted})
        for name, made in wanted.items():
            if name not in own:
                await self.call("POST", path, self._pod(one, made))
        seen = Seen(pods=own, roles={name: made.role for name, made in wanted.items()})
        if end := self._row.end(one, seen):
            await self._say(one, end)
            await self._delete(path, {name: pod for name, pod in own.items() if _is_running(pod)})
        else:
            runs = own and all(phase in ("Running", "Succeeded") for phase in seen.phases())
            await self._say(one, "Running" if runs else "Created")

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


def _operator_job(objects: ResourceKind[Any], specs: str, deciding: Sequence[str]) -> KindController:
    """A job of the Training Operator: `deciding` are the roles of which all tasks of the first that it has decide."""

    def pods(one: Any) -> list[MadePod]:
        name = one["metadata"]["name"]
        return [
            MadePod(
                name=f"{name}-{role.lower()}-{index}",
                role=role,
                template=spec["template"],
                labels={
                    f"{OPERATOR}job-name": name,
                    f"{OPERATOR}replica-type": role.lower(),
                    f"{OPERATOR}replica-index": str(index),
                },
                annotations={},
            )
            for role, spec in one["spec"][specs].items()
            for index in range(spec.get("replicas", 1))
        ]

    def end(one: Any, seen: Seen) -> str:
        if "Failed" in seen.phases():
            return "Failed"
        role = next(role for role in deciding if role in one["spec"][specs])
        phases = seen.phases(role)
        return "Succeeded" if phases and set(phases) == {"Succeeded"} else ""

    def status(one: Any, state: str) -> dict[str, Any]:
        types = ["Created", *(() if state == "Created" else (state,))]
        kind = objects.kind
        conditions = [
            {"type": type_, "status": "True", "reason": f"{kind}{type_}", "message": f"{kind} is {type_}."}
            | {"lastTransitionTime": AT}
            for type_ in types
        ]
        return {"conditions": conditions, "startTime": AT}

    return KindController(
        objects=objects,
        pods=pods,
        is_suspended=lambda one: bool(one["spec"].get("runPolicy", {}).get("suspend")),
        end=end,
        status=status,
        is_over=lambda one: has_condition(one, "Succeeded", "Failed"),
    )


# By the kind as it stands in keys. A Job needs none: the look-alike has the controllers of Kubernetes itself.
CONTROLLERS: dict[str, KindController] = {
    row.objects.kind_in_keys: row
    for row in (
        _operator_job(kinds.PYTORCHJOBS, "pytorchReplicaSpecs", ("Master",)),
        _operator_job(kinds.TFJOBS, "tfReplicaSpecs", ("Chief", "Worker")),
        _operator_job(kinds.MPIJOBS, "mpiReplicaSpecs", ("Launcher",)),
    )
}
