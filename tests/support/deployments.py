"""Deployments for the look-alike of Kubernetes."""

from collections.abc import Mapping
from typing import Any


def a_deployment_tree(
    name: str, labels: Mapping[str, str], pod: Mapping[str, Any], *, replicas: int = 1
) -> dict[str, Any]:
    """Return a Deployment whose pods have these labels and this spec."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": dict(labels)},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": dict(labels)},
            "template": {"metadata": {"labels": dict(labels)}, "spec": dict(pod)},
        },
    }


def a_program(name: str, *command: str) -> dict[str, Any]:
    """Return the spec of a pod that runs one container."""
    container = {"name": name, "image": f"{name}:1", **({"command": list(command)} if command else {})}
    return {"containers": [container]}
