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


def _operator_job(
    objects: ResourceKind[Any],
    specs: str,
    deciding: Sequence[str],
    *,
    by_job: Sequence[str] = (),
    role_label: str = "replica-type",
) -> KindController:
    """A job of Kubeflow's operators: `deciding` are the roles of which all tasks of the first that it has decide."""

    def pods(one: Any) -> list[MadePod]:
        name = one["metadata"]["name"]
        return [
            MadePod(
                name=f"{name}-{role.lower()}" if role in by_job else f"{name}-{role.lower()}-{index}",
                role=role,
                by_job=role in by_job,
                template=spec["template"],
                labels={
                    f"{OPERATOR}job-name": name,
                    f"{OPERATOR}{role_label}": role.lower(),
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


def _volcano_job() -> KindController:
    """A Job of Volcano: Commands hold it and resume it, which counts as a retry; its policies say how it ends."""
    phases = {"Suspended": "Aborted", "Created": "Pending", "Running": "Running", "Succeeded": "Completed"}

    def pods(one: Any) -> list[MadePod]:
        name = one["metadata"]["name"]
        return [
            MadePod(
                name=f"{name}-{task['name']}-{index}",
                role=task["name"],
                template=task["template"],
                labels={"volcano.sh/job-name": name},
                annotations={"volcano.sh/task-spec": task["name"], "volcano.sh/task-index": str(index)},
            )
            for task in one["spec"]["tasks"]
            for index in range(task.get("replicas", 1))
        ]

    def end(one: Any, seen: Seen) -> str:
        if "Failed" in seen.phases():
            return "Failed"
        for task in one["spec"]["tasks"]:
            phases = seen.phases(task["name"])
            if task.get("policies") and phases and set(phases) == {"Succeeded"}:
                return "Succeeded"
        return ""

    def status(_one: Any, state: str) -> dict[str, Any]:
        if state == "Failed":
            return {"state": {"phase": "Terminated"}, "failed": 1}
        return {"state": {"phase": phases[state]}}

    def obey(one: Any, action: str) -> dict[str, Any]:
        now = one.get("status") or {}
        phase = (now.get("state") or {}).get("phase")
        if action == "AbortJob" and phase in ("Pending", "Running"):
            return {"state": {"phase": "Aborting"}}
        if action == "ResumeJob" and phase == "Aborted":
            retries = now.get("retryCount", 0) + 1
            is_last = retries >= one["spec"].get("maxRetry", 3)
            return {"state": {"phase": "Failed" if is_last else "Pending"}, "retryCount": retries}
        return {}

    def phase_of(one: Any) -> str:
        return str(((one.get("status") or {}).get("state") or {}).get("phase", ""))

    return KindController(
        objects=kinds.VCJOBS,
        pods=pods,
        is_suspended=lambda one: phase_of(one) in ("Aborting", "Aborted"),
        end=end,
        status=status,
        is_over=lambda one: phase_of(one) in ("Completed", "Failed", "Terminated"),
        obeys=("bus.volcano.sh/v1alpha1", "Command"),
        obey=obey,
    )


def _ray_job() -> KindController:
    """A RayJob, whose pods a RayCluster owns: there is none here, and the RayJob owns them itself.

    The pod of a Job submits the command, at the port of the head that is named `dashboard`, and ends as it does.
    """
    states = {
        "Suspended": "Suspended",
        "Created": "Initializing",
        "Running": "Running",
        "Succeeded": "Complete",
    }

    def pods(one: Any) -> list[MadePod]:
        name, cluster = one["metadata"]["name"], one["spec"]["rayClusterSpec"]
        head = cluster["headGroupSpec"]["template"]
        made = [(f"{name}-c1-head", "head", "headgroup", head)]
        for group in cluster["workerGroupSpecs"]:
            of = group["groupName"]
            made += [
                (f"{name}-c1-{of}-{at}", "worker", of, group["template"]) for at in range(group["replicas"])
            ]
        ports = [port for one in head["spec"]["containers"] for port in one.get("ports", ())]
        has_dashboard = not ports or any(port["name"] == "dashboard" for port in ports)
        submitter = MadePod(
            name=name, role="submitter", by_job=True, template=head, labels={}, annotations={}
        )
        return [
            MadePod(
                name=pod,
                role=type_,
                template=template,
                labels={"ray.io/node-type": type_, "ray.io/group": group, "ray.io/cluster": f"{name}-c1"},
                annotations={},
            )
            for pod, type_, group, template in made
        ] + [submitter] * has_dashboard

    def end(_one: Any, seen: Seen) -> str:
        phase = next(iter(seen.phases("submitter")), "")
        return phase if phase in ("Failed", "Succeeded") else ""

    def status(one: Any, state: str) -> dict[str, Any]:
        made = {
            "jobDeploymentStatus": states.get(state, "Failed"),
            "rayClusterName": f"{one['metadata']['name']}-c1",
        }
        words = {"Succeeded": "SUCCEEDED", "Failed": "FAILED", "Running": "RUNNING"}
        return {**made, **({"jobStatus": words[state]} if state in words else {})}

    def is_over(one: Any) -> bool:
        return (one.get("status") or {}).get("jobDeploymentStatus") in ("Complete", "Failed")

    return KindController(
        objects=kinds.RAYJOBS,
        pods=pods,
        is_suspended=lambda one: bool(one["spec"].get("suspend")),
        end=end,
        status=status,
        is_over=is_over,
    )


# By the kind as it stands in keys. A Job needs none: the look-alike has the controllers of Kubernetes itself.
CONTROLLERS: dict[str, KindController] = {
    row.objects.kind_in_keys: row
    for row in (
        _operator_job(kinds.PYTORCHJOBS, "pytorchReplicaSpecs", ("Master",)),
        _operator_job(kinds.TFJOBS, "tfReplicaSpecs", ("Chief", "Worker")),
        _operator_job(kinds.MPIJOBS, "mpiReplicaSpecs", ("Launcher",)),
        _operator_job(
            kinds.MPIJOBS_V2BETA1,
            "mpiReplicaSpecs",
            ("Launcher",),
            by_job=("Launcher",),
            role_label="job-role",
        ),
        _volcano_job(),
        _ray_job(),
    )
}
