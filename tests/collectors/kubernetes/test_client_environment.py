"""Of the environment, the proxy is used for the API server, and the passwords of `.netrc` are not."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions
from collectors.sources.kubernetes.source import KubernetesSource
from demo.lookalikes.kubernetes import KubernetesLookalike

Connect = Callable[..., Awaitable[KubernetesSource]]
Serve = Callable[[Callable[[web.Request], Awaitable[web.StreamResponse]]], Awaitable[str]]
LIST = {"kind": "List", "metadata": {"resourceVersion": "7"}, "items": []}
AT = "http://api.invalid:6443"


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "no_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


class Proxy:
    def __init__(self) -> None:
        self.urls: list[str] = []
        self.passwords: list[str | None] = []

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        self.urls.append(str(request.url))
        self.passwords.append(request.headers.get("Proxy-Authorization"))
        return web.json_response(LIST)


async def test_the_proxy_of_the_environment_is_used(
    connect: Connect, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = Proxy()
    monkeypatch.setenv("http_proxy", (await serve(proxy)).replace("://", "://me:word@"))
    source = await connect(AT)
    await source.get("/api/v1/nodes")
    assert proxy.urls == [f"{AT}/api/v1/nodes"]
    assert proxy.passwords == ["Basic bWU6d29yZA=="]


async def test_a_server_that_is_left_out_needs_no_proxy(
    kube: KubernetesLookalike, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert await (await connect(kube.url)).get("/api/v1/nodes")


async def test_the_proxy_of_the_kubeconfig_goes_before(
    tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is that of websockets too, in which programs run in containers."""
    proxy = Proxy()
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    cluster = {"name": "c", "cluster": {"server": AT, "proxy-url": await serve(proxy)}}
    context = {"name": "c", "context": {"cluster": "c", "user": "u"}}
    user = {"name": "u", "user": {"token": "t"}}
    config = {"clusters": [cluster], "contexts": [context], "users": [user], "current-context": "c"}
    file = tmp_path / "kubeconfig"
    file.write_text(str(config), encoding="utf-8")
    client = await KubernetesClient.connect(KubernetesOptions(kubeconfig=str(file)))
    try:
        await client.call("GET", "/api/v1/nodes")
        session, _ = await client.websockets("GET", "/api/v1/pods", ())
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(f"{AT}/api/v1/pods")
    finally:
        await client.close()
    assert proxy.urls == [f"{AT}/api/v1/nodes", f"{AT}/api/v1/pods"]


async def test_a_netrc_has_no_passwords_for_it(
    kube: KubernetesLookalike, connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "netrc"
    file.write_text("default login me password word", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(file))
    assert await (await connect(kube.url)).get("/api/v1/nodes")
