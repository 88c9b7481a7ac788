"""Schemas for kubeconform from an API server's own OpenAPI documents, so that none is downloaded."""

import json
from pathlib import Path
from typing import Any

from tests.real.servers.kubernetes import KubernetesCluster

GROUPS = (
    "api/v1",
    "apis/apps/v1",
    "apis/networking.k8s.io/v1",
    "apis/rbac.authorization.k8s.io/v1",
    "apis/admissionregistration.k8s.io/v1",
)
LOCATION = "{{ .ResourceKind }}-{{ .Group }}-{{ .ResourceAPIVersion }}.json"  # kubeconform's own template


def write_schemas(cluster: KubernetesCluster, folder: Path) -> str:
    """Write a strict schema for each kind in GROUPS. Return the value for `-schema-location`."""
    for group in GROUPS:
        document = cluster.call("GET", f"/openapi/v3/{group}")
        components = {name: _strict(schema) for name, schema in document["components"]["schemas"].items()}
        for name, schema in components.items():
            for kind in schema.get("x-kubernetes-group-version-kind", ()):
                whole = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": components}}
                group_name = kind["group"] or kind["version"]  # as kubeconform calls the core group
                file = f"{kind['kind'].lower()}-{group_name}-{kind['version']}.json"
                (folder / file).write_text(json.dumps(whole))
    return f"{folder}/{LOCATION}"


def _strict(schema: Any) -> Any:
    """The schema, refusing unknown fields as the API server does under strict validation."""
    if "properties" in schema and "additionalProperties" not in schema:
        return {**schema, "additionalProperties": False}
    return schema
