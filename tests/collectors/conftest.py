"""Fixtures of the collectors' tests: a Kubernetes look-alike, connected sources, a scripted server."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from aiohttp import web

from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions
from collectors.sources.kubernetes.source import KubernetesSource
from demo.lookalikes.kubernetes import KubernetesLookalike, User

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
BOT = User("system:serviceaccount:yardmaster:yardmaster", ())


@pytest.fixture
async def kube() -> AsyncIterator[KubernetesLookalike]:
    """A cluster without controllers. The token `bot` has no permissions until a role grants some."""
    async with KubernetesLookalike.running(
        tokens={"bot": BOT}, controllers=False, logs=lambda *_: b"one\ntwo \xff\n"
    ) as running:
        yield running


@pytest.fixture
async def connect(tmp_path: Path) -> AsyncIterator[Callable[..., Awaitable[KubernetesSource]]]:
    """A function that connects a source to an address with a token; it is closed after the test."""
    async with AsyncExitStack() as stack:

        async def open_source(url: str, token: str = "admin-token", **settings: object) -> KubernetesSource:
            config = tmp_path / "kubeconfig"
            write_kubeconfig(config, url, token)
            settings.setdefault("timeout", timedelta(seconds=5))
            options = KubernetesOptions(kubeconfig=str(config), **settings)  # type: ignore[arg-type]
            client = await KubernetesClient.connect(options)
            stack.push_async_callback(client.close)
            return KubernetesSource(client)

        yield open_source


@pytest.fixture
async def serve() -> AsyncIterator[Callable[[Handler], Awaitable[str]]]:
    """A function that serves every path with one handler and returns the address."""
    async with AsyncExitStack() as stack:

        async def start(answer: Handler) -> str:
            async def handler(request: web.Request) -> web.StreamResponse:
                return await answer(request)

            app = web.Application()
            app.router.add_route("*", "/{path:.*}", handler)
            runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            return f"http://127.0.0.1:{runner.addresses[0][1]}"

        yield start


def write_kubeconfig(path: Path, url: str, token: str) -> None:
    named = {"name": "here"}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{**named, "cluster": {"server": url}}],
        "users": [{**named, "user": {"token": token}}],
        "contexts": [{**named, "context": {"cluster": "here", "user": "here"}}],
        "current-context": "here",
    }
    path.write_text(json.dumps(config))
