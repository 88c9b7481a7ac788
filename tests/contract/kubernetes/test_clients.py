"""Real clients: kubectl and the Python client work with the look-alike."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec
import pytest
from kubernetes.aio import client

from demo.lookalikes.kubernetes import KubernetesLookalike
from demo.parts.processes import MissingPartError
from tests.contract.kubernetes.api import pod
from tests.real.fixtures import present_or_skip
from tests.real.parts.layout import HOW_TO_GET, kube_program


@pytest.fixture
async def kube() -> AsyncIterator[KubernetesLookalike]:
    """A cluster with one node, one running pod and one Service."""
    async with KubernetesLookalike.running(logs=lambda *_: b"hello\n") as running:
        status = {
            "allocatable": {"cpu": "8", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
            "addresses": [{"type": "InternalIP", "address": "10.1.0.1"}],
        }
        running.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu-1"}, "status": status})
        body = pod("a", nodeName="gpu-1")
        body["spec"]["containers"][0]["ports"] = [{"name": "metrics", "containerPort": 9400}]
        running.create(body)
        state = {"phase": "Running", "podIP": "10.9.0.1", "hostIP": "10.1.0.1",
                 "conditions": [{"type": "Ready", "status": "True"}]}  # fmt: skip
        running.patch("pods", "default", "a", {"status": state}, status=True)
        spec = {"selector": {"app": "a"}, "ports": [{"name": "metrics", "port": 9400}]}
        running.create({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": spec})
        yield running


@pytest.fixture
def kubectl(kube: KubernetesLookalike, tmp_path: Path) -> Callable[..., object]:
    """A function that runs kubectl against the look-alike and returns its output. It must succeed."""

    def find() -> Path:
        program = kube_program("kubectl")
        if not program.is_file():
            raise MissingPartError(f"no {program}; {HOW_TO_GET.format(part='kube')}")
        return program

    program = present_or_skip(find)
    config = kube.kubeconfig(tmp_path / "config")

    async def run(*arguments: str) -> str:
        process = await asyncio.create_subprocess_exec(
            program, f"--kubeconfig={config}", f"--cache-dir={tmp_path / 'cache'}", *arguments,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        async with asyncio.timeout(60):
            printed, _ = await process.communicate()
        assert process.returncode == 0, printed.decode()
        return printed.decode()

    return run


@pytest.mark.real
async def test_kubectl_gets_describes_and_cordons(
    kube: KubernetesLookalike, kubectl: Callable[..., object]
) -> None:
    async def run(*arguments: str) -> str:
        printed = kubectl(*arguments)
        assert asyncio.iscoroutine(printed)
        return str(await printed)

    assert (await run("get", "nodes")).split()[5:8] == ["gpu-1", "Ready", "<none>"]
    assert await run("cordon", "gpu-1") == "node/gpu-1 cordoned\n"
    assert "Ready,SchedulingDisabled" in await run("get", "nodes")
    described = await run("describe", "node", "gpu-1")
    assert "Unschedulable:      true" in described
    assert "default                     a " in described
    assert await run("logs", "a") == "hello\n"
    assert "evicting pod default/a (server dry run)" in await run(
        "drain", "gpu-1", "--force", "--dry-run=server"
    )
    assert kube.get("pods", "default", "a") is not None


async def test_the_python_client_lists_watches_patches_and_evicts(kube: KubernetesLookalike) -> None:
    settings = client.Configuration()
    settings.host = kube.url
    settings.api_key = {"authorization": kube.admin_token}
    settings.api_key_prefix = {"authorization": "Bearer"}
    async with client.ApiClient(settings) as api:
        core = client.CoreV1Api(api)
        nodes = await core.list_node(limit=1)
        assert [node.to_dict()["metadata"]["name"] for node in nodes.items] == ["gpu-1"]
        await core.patch_node("gpu-1", {"spec": {"unschedulable": True}}, dry_run="All")
        assert (await core.read_node("gpu-1")).to_dict()["spec"]["unschedulable"] is None
        eviction = client.V1Eviction(metadata=client.V1ObjectMeta(name="a", namespace="default"))
        await core.create_namespaced_pod_eviction("a", "default", eviction)
        evicted = (await core.read_namespaced_pod("a", "default")).to_dict()
        assert evicted["metadata"]["deletion_timestamp"]
        assert await core.read_namespaced_pod_log("a", "default") == "hello\n"
        with pytest.raises(client.exceptions.NotFoundException):
            await core.read_node("nope")
        response = await core.list_namespaced_pod_without_preload_content(
            "default", watch=True, timeout_seconds=1
        )
        lines = (await response.content.read()).splitlines()
        assert [msgspec.json.decode(line)["type"] for line in lines] == ["ADDED"]
