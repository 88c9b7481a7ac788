"""Custom kinds in tests: which of the cached kinds are custom, and a definition of one for the look-alike."""

from typing import Any

from collectors.cluster.kinds import ResourceKind
from demo.lookalikes.kubernetes.kinds import BUILT_IN

_BUILT_IN = {one.group for one in BUILT_IN}


def is_custom(kind: ResourceKind[Any]) -> bool:
    """Whether a cluster serves the kind only with a CustomResourceDefinition."""
    return "." in kind.group and kind.group not in _BUILT_IN


def a_definition(kind: ResourceKind[Any]) -> dict[str, Any]:
    """Return a CustomResourceDefinition that accepts any spec. The real one comes with the real controller."""
    plural = kind.path.rpartition("/")[2]
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": kind.api.partition("/")[2],
        "served": True,
        "storage": True,
        "schema": {
            "openAPIV3Schema": {"type": "object", "properties": {"spec": anything, "status": anything}}
        },
        "subresources": {"status": {}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{kind.group}"},
        "spec": {
            "group": kind.group,
            "scope": "Namespaced" if kind.is_namespaced else "Cluster",
            "names": {"plural": plural, "singular": kind.kind.lower(), "kind": kind.kind},
            "versions": [version],
        },
    }


RULE_OBJECTS: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "prometheusrules.monitoring.coreos.com"},
    "spec": {
        "group": "monitoring.coreos.com",
        "scope": "Namespaced",
        "names": {"plural": "prometheusrules", "singular": "prometheusrule", "kind": "PrometheusRule"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                },
            }
        ],
    },
}


def a_rule_object(namespace: str, name: str, *rules: dict[str, Any]) -> dict[str, Any]:
    """Return a PrometheusRule object with one group, `g`."""
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"groups": [{"name": "g", "rules": list(rules)}]},
    }
