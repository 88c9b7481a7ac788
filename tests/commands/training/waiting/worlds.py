"""Objects of a situation that is written in short: queues, trainings, nodes, and what the API shows of each.

A row of `trainings` becomes its object with its pods, and its Workload in Kueue or its PodGroup in Volcano; a row of
`nodes` becomes as many nodes, with a pod each for the GPUs that others hold there.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
Tree = dict[str, Any]

_APIS = {
    "Job": "batch/v1",
    "JobSet": "jobset.x-k8s.io/v1alpha2",
    "PyTorchJob": "kubeflow.org/v1",
    "vcjob": "batch.volcano.sh/v1alpha1",
}
KUEUE, VOLCANO = "kueue.x-k8s.io/v1beta2", "scheduling.volcano.sh/v1beta1"
_QUEUE, _GPU = "kueue.x-k8s.io/queue-name", "nvidia.com/gpu"


def objects_of(situation: Row) -> list[Tree]:
    """Return all objects of a situation."""
    return [
        *(tree for row in situation.get("queues", ()) for tree in _queue(row)),
        *(tree for row in situation.get("trainings", ()) for tree in _training(row)),
        *(tree for row in situation.get("nodes", ()) for tree in _nodes(row)),
        *(dict(tree) for tree in situation.get("objects", ())),
    ]


def _meta(name: str, **more: Any) -> Tree:
    namespace, _, own = name.rpartition("/")
    made = {"name": own, "uid": f"uid-{name}", **{key: value for key, value in more.items() if value}}
    return {**made, "namespace": namespace} if namespace else made


def _amounts(flavors: Mapping[str, int], key: str, more: Row) -> list[Tree]:
    return [
        {"name": name, "resources": [{"name": _GPU, key: str(amount), **more}]}
        for name, amount in flavors.items()
    ]


def _queue(row: Row) -> Iterator[Tree]:
    if row.get("system") == "volcano":
        spec = {"capability": {_GPU: str(row["gpus"])}}
        status = {"state": "Open", "allocated": {_GPU: str(row["used"])}}
        yield {
            "apiVersion": VOLCANO,
            "kind": "Queue",
            "metadata": _meta(row["name"]),
            "spec": spec,
            "status": status,
        }
        return
    for namespace in row["namespaces"]:
        local = {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": _meta(f"{namespace}/{row['name']}")}
        yield {**local, "spec": {"clusterQueue": row["name"]}}
    limit = {"borrowingLimit": str(row["borrow"])} if "borrow" in row else {}
    flavors = _amounts(row["flavors"], "nominalQuota", limit)
    reserved = _amounts(row.get("reserved", {}), "total", {})
    inactive = {
        "type": "Active",
        "status": "False",
        "reason": "FlavorNotFound",
        "message": row.get("inactive"),
    }
    yield {
        "apiVersion": KUEUE,
        "kind": "ClusterQueue",
        "metadata": _meta(row["name"]),
        "spec": {
            "queueingStrategy": row.get("strategy", "BestEffortFIFO"),
            "resourceGroups": [{"coveredResources": [_GPU], "flavors": flavors}],
            **({"cohortName": row["cohort"]} if "cohort" in row else {}),
        },
        "status": {
            "flavorsReservation": reserved,
            **({"conditions": [inactive]} if "inactive" in row else {}),
        },
    }


def _template(row: Row) -> Tree:
    container = {"name": "main", "resources": {"limits": {_GPU: str(row["gpus"])}}}
    return {"spec": {"containers": [container], **row.get("pod", {})}}


def _spec(row: Row, kind: str) -> Tree:
    template, workers, held = _template(row), row.get("workers", 1), not ("runs" in row or "pods" in row)
    limit = {"activeDeadlineSeconds": row["deadline"]} if "deadline" in row else {}
    is_held = row.get("suspended", held and "queue" in row)
    if kind == "PyTorchJob":
        replicas = {"Worker": {"replicas": workers, "template": template}}
        return {"pytorchReplicaSpecs": replicas, "runPolicy": {"suspend": is_held, **limit}}
    if kind == "JobSet":
        job = {"parallelism": workers, "completions": workers, "template": template}
        return {"suspend": is_held, "replicatedJobs": [{"name": "worker", "template": {"spec": job}}]}
    if kind == "vcjob":
        tasks = [{"name": "worker", "replicas": workers, "template": template}]
        return {"queue": row["queue"], "minAvailable": workers, "tasks": tasks}
    return {"suspend": is_held, "parallelism": workers, "completions": workers, "template": template, **limit}


def _training(row: Row) -> Iterator[Tree]:
    kind, name = row.get("kind", "Job"), row["name"]
    shown = "Job" if kind == "vcjob" else kind
    owner = {"apiVersion": _APIS[kind], "kind": shown, "name": name.rpartition("/")[2], "uid": f"uid-{name}"}
    labels = {"owner": row["owner"]} if "owner" in row else {}
    if "queue" in row and kind != "vcjob":
        labels[_QUEUE] = row["queue"]
    meta = _meta(name, labels=labels, creationTimestamp=row["created"], managedFields=row.get("fields"))
    status = row.get(
        "status", {"startTime": row["runs"], "active": row.get("workers", 1)} if "runs" in row else {}
    )
    yield {
        "apiVersion": _APIS[kind],
        "kind": shown,
        "metadata": meta,
        "spec": _spec(row, kind),
        "status": status,
    }
    if "queue" in row:
        yield _group(row, owner) if kind == "vcjob" else _workload(row, owner)
    for number in range(row.get("workers", 1) if "runs" in row or "pods" in row else 0):
        yield _pod(row, owner, number)


def _workload(row: Row, owner: Tree) -> Tree:
    kind = owner["kind"].lower()
    conditions = list(row.get("conditions", ()))
    if "waits" in row:
        reason = row.get("reason", "Pending")
        conditions.append(
            {"type": "QuotaReserved", "status": "False", "reason": reason, "message": row["waits"]}
        )
    if "runs" in row:
        conditions += [
            {"type": type_, "status": "True", "reason": type_, "lastTransitionTime": row["runs"]}
            for type_ in ("QuotaReserved", "Admitted")
        ]
    namespace = row["name"].partition("/")[0]
    name = f"{namespace}/{kind}-{owner['name']}-1a2b3"
    meta = _meta(name, creationTimestamp=row["created"], ownerReferences=[{**owner, "controller": True}])
    spec = {"active": True, "queueName": row["queue"], "priority": row.get("priority", 0)}
    status = {"conditions": conditions}
    tree = {
        "apiVersion": KUEUE,
        "kind": "Workload",
        "metadata": {**meta, "uid": f"uid-workload-{row['name']}"},
    }
    return {**tree, "spec": spec, "status": status}


def _group(row: Row, owner: Tree) -> Tree:
    workers = row.get("workers", 1)
    meta = _meta(f"{row['name']}-1f2e", creationTimestamp=row["created"], ownerReferences=[owner])
    spec = {
        "queue": row["queue"],
        "minMember": workers,
        "minResources": {_GPU: str(workers * row["gpus"])},
        **({"priorityClassName": row["class"]} if "class" in row else {}),
    }
    status = {"phase": row.get("phase", "Running" if "runs" in row else "Pending")}
    if "waits" in row:
        condition = {"type": "Unschedulable", "status": "True", "reason": "NotEnoughResources"}
        status["conditions"] = [{**condition, "message": row["waits"]}]
    return {"apiVersion": VOLCANO, "kind": "PodGroup", "metadata": meta, "spec": spec, "status": status}


def _pod(row: Row, owner: Tree, number: int) -> Tree:
    """Return one of its pods; `pods` says what differs of each, the last for all that follow."""
    shown: Sequence[Row] = row.get("pods", ({},))
    of = shown[min(number, len(shown) - 1)]
    name, kind = f"{row['name']}-worker-{number}", row.get("kind", "Job")
    labels = {
        "PyTorchJob": {
            "training.kubeflow.org/replica-type": "worker",
            "training.kubeflow.org/replica-index": str(number),
        },
        "vcjob": {"volcano.sh/job-name": owner["name"]},
    }.get(kind, {"batch.kubernetes.io/job-completion-index": str(number)})
    notes = (
        {"volcano.sh/task-spec": "worker", "volcano.sh/task-index": str(number)} if kind == "vcjob" else {}
    )
    meta = _meta(name, labels=labels, annotations=notes, ownerReferences=[{**owner, "controller": True}])
    spec = dict(_template(row)["spec"])
    nodes = of.get("nodes") or row.get("nodes")
    status: Tree = {"phase": "Running"}
    if nodes or "runs" in row:
        spec["nodeName"] = nodes[min(number, len(nodes) - 1)] if nodes else f"other-{owner['name']}-{number}"
    if "nominated" in of:
        status["nominatedNodeName"] = of["nominated"]
    if "unplaced" in of:
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        status |= {"phase": "Pending", "conditions": [{**condition, "message": of["unplaced"]}]}
    if "waiting" in of:
        waiting = {"name": "main", "state": {"waiting": of["waiting"]}}
        status = {"phase": "Pending", "containerStatuses": [waiting]}
    if "ends" in of or "ends" in row:
        meta["deletionTimestamp"] = of.get("ends") or row["ends"]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}


def _nodes(row: Row) -> Iterator[Tree]:
    amounts = {_GPU: "8", "cpu": "128", "memory": "1Ti", "pods": "110"}
    for name in row["names"]:
        meta = _meta(name, annotations=row.get("annotations"), managedFields=row.get("fields"))
        spec: Tree = {"unschedulable": True} if row.get("cordoned") else {}
        if "taint" in row:
            spec["taints"] = [{"key": row["taint"], "value": "true", "effect": "NoSchedule"}]
        ready = {"type": "Ready", "status": "True"}
        status = {"capacity": amounts, "allocatable": amounts, "conditions": [ready]}
        yield {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": spec, "status": status}
        if row.get("used"):
            container = {"name": "main", "resources": {"limits": {_GPU: str(row["used"])}}}
            held = {"nodeName": name, "containers": [container]}
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": _meta(f"others/of-{name}")}
            yield {**pod, "spec": held, "status": {"phase": "Running"}}
