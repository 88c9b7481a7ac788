"""The real Kubernetes: it binds pods, refuses, expires history and becomes unavailable, as other tests need."""

import json
import urllib.error
import urllib.parse
from typing import Any

import pytest

from tests.real.servers.kubernetes import RESERVED, KubernetesCluster

_DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "server"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "server"}},
        "template": {
            "metadata": {"labels": {"app": "server"}},
            "spec": {
                "containers": [
                    {"name": "main", "image": "server:1", "resources": {"limits": {"nvidia.com/gpu": "4"}}}
                ],
                "tolerations": [{"key": RESERVED, "operator": "Equal", "value": "smoke"}],
            },
        },
    },
}


def test_kubernetes_creates_and_binds_the_pods_of_a_deployment(real_kubernetes: KubernetesCluster) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "smoke"}}
    real_kubernetes.call("POST", "/api/v1/namespaces", namespace)
    real_kubernetes.create_ready_node("smoke-node", resources={"nvidia.com/gpu": "8"}, reserved_for="smoke")
    real_kubernetes.call("POST", "/apis/apps/v1/namespaces/smoke/deployments", _DEPLOYMENT)

    def nodes() -> list[str | None]:
        pods = real_kubernetes.call("GET", "/api/v1/namespaces/smoke/pods")["items"]
        return [pod["spec"].get("nodeName") for pod in pods]

    real_kubernetes.wait_for("two bound pods", lambda: nodes() == ["smoke-node", "smoke-node"])
    assert "smoke-node   Ready" in real_kubernetes.kubectl("get", "node", "smoke-node")
    real_kubernetes.call("DELETE", "/api/v1/namespaces/smoke")
    real_kubernetes.call("DELETE", "/api/v1/nodes/smoke-node")
    real_kubernetes.wait_for(
        "the node to be gone", lambda: not real_kubernetes.exists("/api/v1/nodes/smoke-node")
    )


def test_kubernetes_authenticates_the_bot_and_allows_it_nothing(real_kubernetes: KubernetesCluster) -> None:
    with pytest.raises(urllib.error.HTTPError) as forbidden:
        real_kubernetes.call("GET", "/api/v1/nodes", as_bot=True)
    with forbidden.value as reply:
        status = json.load(reply)
    assert (status["code"], status["reason"]) == (403, "Forbidden")
    assert real_kubernetes.bot_name in status["message"]


def test_kubernetes_expires_its_history(real_kubernetes: KubernetesCluster) -> None:
    seen = real_kubernetes.call("GET", "/api/v1/namespaces?limit=1")["metadata"]
    real_kubernetes.forget_history()
    token = urllib.parse.quote(seen["continue"])
    with pytest.raises(urllib.error.HTTPError) as expired:
        real_kubernetes.call("GET", f"/api/v1/namespaces?limit=1&continue={token}")
    with expired.value as reply:
        assert json.load(reply)["reason"] == "Expired"
    version = seen["resourceVersion"]
    first = real_kubernetes.call(
        "GET", f"/api/v1/namespaces?watch=true&timeoutSeconds=5&resourceVersion={version}"
    )
    assert (first["type"], first["object"]["code"]) == ("ERROR", 410)


def test_kubernetes_can_be_unavailable_for_a_while(real_kubernetes: KubernetesCluster) -> None:
    with real_kubernetes.without_apiserver(), pytest.raises(urllib.error.URLError, match="refused"):
        real_kubernetes.call("GET", "/api/v1/nodes")
    assert real_kubernetes.call("GET", "/api/v1/nodes")["kind"] == "NodeList"
