"""The pods of a large cluster as an API server writes them: about 9 KB each, always the same."""

from dataclasses import dataclass
from typing import Any

import msgspec

from benchmarks.pod_contents import MOMENT, managed_fields, spec, status


@dataclass(frozen=True, slots=True)
class Pages:
    """A list in pages. `bodies` by continue token; the first page has the empty one."""

    bodies: dict[str, bytes]
    count: int

    @property
    def size(self) -> int:
        return sum(len(body) for body in self.bodies.values())


def pages(count: int = 5_000, page: int = 500) -> Pages:
    """Return the pods of `/api/v1/pods`, in pages."""
    bodies: dict[str, bytes] = {}
    for start in range(0, count, page):
        end = min(start + page, count)
        metadata: dict[str, Any] = {"resourceVersion": "900000"}
        if end < count:
            metadata |= {"continue": str(end), "remainingItemCount": count - end}
        listed = {
            "kind": "PodList",
            "apiVersion": "v1",
            "metadata": metadata,
            "items": [pod(number) for number in range(start, end)],
        }
        bodies[str(start) if start else ""] = msgspec.json.encode(listed)
    return Pages(bodies, count)


def pod(number: int) -> dict[str, Any]:
    """Return one rank of a training with eight: two containers, an init container, and what admission adds."""
    training, rank, team = number // 8, number % 8, number // 8 % 20
    job, namespace = f"train-{training:04d}-worker", f"team-{team:02d}"
    uid = f"{number:08x}-7c1d-4a6e-9f00-{number * 7919:012x}"
    labels = {
        "app.kubernetes.io/name": f"train-{training:04d}",
        "app.kubernetes.io/managed-by": "trainer",
        "batch.kubernetes.io/controller-uid": f"{training:08x}-0b7e-4d55-8a11-{training * 104729:012x}",
        "batch.kubernetes.io/job-completion-index": str(rank),
        "batch.kubernetes.io/job-name": job,
        "owner": f"person-{team % 7}",
        "team": namespace,
    }
    return {
        "metadata": {
            "name": f"{job}-{rank}-{number * 7919 % 99991:05d}",
            "generateName": f"{job}-{rank}-",
            "namespace": namespace,
            "uid": uid,
            "resourceVersion": str(800_000 + number),
            "creationTimestamp": MOMENT.format(0),
            "labels": labels,
            "annotations": {
                "batch.kubernetes.io/job-completion-index": str(rank),
                "cni.example.org/networks": f'[{{"name":"rdma-{rank}","interface":"net1"}}]',
                "yardmaster.io/owner": f"person-{team % 7}",
            },
            "ownerReferences": [
                {
                    "apiVersion": "batch/v1",
                    "kind": "Job",
                    "name": job,
                    "uid": labels["batch.kubernetes.io/controller-uid"],
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
            "finalizers": ["batch.kubernetes.io/job-tracking"],
            "managedFields": list(managed_fields(labels)),
        },
        "spec": spec(number, job, training, rank),
        "status": status(number, uid),
    }
