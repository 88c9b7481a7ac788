"""The definition of Volcano's Job for a cluster, with the fields that are used."""

from typing import Any

from collectors.cluster.kinds import VCJOBS

_TEXT, _COUNT = {"type": "string"}, {"type": "integer", "format": "int32", "minimum": 0}
_POD = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def vcjob_definition() -> dict[str, Any]:
    """Return a CustomResourceDefinition with the fields that are used, typed as Volcano's own; others are refused."""
    policies = {"type": "array", "items": _object(event=_TEXT, action=_TEXT)}
    template = _object(metadata=_POD, spec=_POD)
    task = _object(name=_TEXT, replicas=_COUNT, template=template, policies=policies)
    spec = _object(
        schedulerName=_TEXT,
        minAvailable=_COUNT,
        maxRetry={**_COUNT, "default": 3},
        priorityClassName=_TEXT,
        queue=_TEXT,
        plugins={"type": "object", "additionalProperties": {"type": "array", "items": _TEXT}},
        policies=policies,
        tasks={"type": "array", "items": task},
    )
    state = _object(phase=_TEXT, reason=_TEXT, message=_TEXT)
    status = _object(state=state, failed=_COUNT, retryCount=_COUNT)
    version = {
        "name": VCJOBS.api.partition("/")[2],
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": _object(spec=spec, status=status)},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": VCJOBS.name},
        "spec": {
            "group": VCJOBS.group,
            "scope": "Namespaced",
            "names": {"plural": "jobs", "singular": "job", "kind": "Job", "shortNames": ["vcjob", "vj"]},
            "versions": [version],
        },
    }


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}
