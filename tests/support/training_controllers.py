"""A row for the controller of each kind of training, which says how it acts, for the look-alike."""

from collections.abc import Sequence
from typing import Any

from collectors.cluster import kinds
from collectors.cluster.kinds import ResourceKind
from tests.support.controller_lookalike import AT, KindController, MadePod, Seen, has_condition

OPERATOR = "training.kubeflow.org/"


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
