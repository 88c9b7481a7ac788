"""Definitions of the kinds that other programs test nodes for, with the fields that are used, typed as theirs.

NVIDIA/NVSentinel, `ValidationRequest` of nvsentinel.nvidia.com/v1alpha1; NVIDIA/cluster-readiness-engine,
`Certification` of cre.nvidia.com/v1alpha1; kubernetes-sigs/node-readiness-controller, `NodeReadinessRule`.
"""

from typing import Any

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_PHASE = {"type": "string", "enum": ["Pending", "Running", "Succeeded", "Failed"]}
_STATUS = {"type": "string", "enum": ["True", "False", "Unknown"]}
_LABELS = {"type": "object", "additionalProperties": _TEXT}


def _object(*required: str, **fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "object", "properties": fields}
    return {**found, "required": list(required)} if required else found


def _list(**fields: Any) -> dict[str, Any]:
    return {"type": "array", "items": _object(**fields)}


_CONDITIONS = _list(
    type=_TEXT,
    status=_STATUS,
    reason=_TEXT,
    message=_TEXT,
    lastTransitionTime={"type": "string", "format": "date-time"},
)
_REASON = {
    "type": "string",
    "enum": ["TestFailed", "TestTimeout", "NodeReadinessViolation", "BatchMinimumNotMet"],
}
_GROUPS = _list(
    name=_TEXT,
    provider=_TEXT,
    phase=_PHASE,
    nodes=_TEXTS,
    tests=_TEXTS,
    attempts=_list(objectName=_TEXT, phase=_PHASE, failureReason=_REASON),
)
_KINDS = {
    "ValidationRequest": (
        "nvsentinel.nvidia.com",
        "Cluster",
        _object("nodes", nodes=_list(name=_TEXT), tests=_TEXTS),
        _object(phase=_PHASE, testGroups=_GROUPS, skipped=_object(tests=_TEXTS), conditions=_CONDITIONS),
    ),
    "Certification": (
        "cre.nvidia.com",
        "Namespaced",
        _object(
            "target",
            "categories",
            target=_object(nodeSelector=_LABELS),
            categories={**_list(domain=_TEXT, variant=_TEXT), "minItems": 1},
        ),
        _object(conditions=_CONDITIONS),
    ),
    "NodeReadinessRule": (
        "readiness.node.x-k8s.io",
        "Cluster",
        _object(
            "conditions",
            "nodeSelector",
            "taint",
            conditions=_list(type=_TEXT, requiredStatus=_STATUS),
            dryRun={"type": "boolean"},
            enforcementMode={"type": "string", "enum": ["bootstrap-only", "continuous"]},
            nodeSelector=_object(
                matchLabels=_LABELS, matchExpressions=_list(key=_TEXT, operator=_TEXT, values=_TEXTS)
            ),
            taint=_object("effect", "key", effect=_TEXT, key=_TEXT),
        ),
        _object(appliedNodes=_TEXTS),
    ),
}


def validator_definition(kind: str) -> dict[str, Any]:
    """Return the CustomResourceDefinition of the kind; other fields are refused."""
    group, scope, spec, status = _KINDS[kind]
    version = {
        "name": "v1alpha1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": _object("spec", spec=spec, status=status)},
    }
    plural = f"{kind.lower()}s"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "versions": [version],
        },
    }
