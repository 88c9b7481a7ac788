"""The fixture of the suite: the same API against the look-alike and against a real control plane."""

from __future__ import annotations

import itertools
import ssl
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import aiohttp
import pytest

from demo.lookalikes.kubernetes import KubernetesLookalike, User
from tests.contract.kubernetes.api import BOT, Api
from tests.support.tls import end_closed_connections

_numbers = itertools.count(1)


@pytest.fixture(
    params=[
        pytest.param("look-alike", id="look-alike"),
        pytest.param("real", id="real", marks=[pytest.mark.real, pytest.mark.xdist_group("real_kubernetes")]),
    ]
)
async def api(request: pytest.FixtureRequest) -> AsyncIterator[Api]:
    """Requests to each server in turn, with a namespace of the test's own."""
    async with AsyncExitStack() as stack:
        stack.push_async_callback(end_closed_connections)
        if request.param == "real":
            real = request.getfixturevalue("real_kubernetes")
            tokens = {"admin": real.admin_token, "bot": real.bot_token}
            connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=str(real.ca_file)))
            url = real.url

            async def forget() -> None:
                # In this thread: the server would end with the thread that started it.
                real.forget_history()
        else:
            users = {"bot-token": User(BOT)}
            kube = await stack.enter_async_context(KubernetesLookalike.running(tokens=users))
            tokens = {"admin": kube.admin_token, "bot": "bot-token"}
            connector = aiohttp.TCPConnector()
            url = kube.url

            async def forget() -> None:
                kube.compact()

        timeout = aiohttp.ClientTimeout(total=60)
        session = await stack.enter_async_context(
            aiohttp.ClientSession(url, connector=connector, timeout=timeout, trust_env=False)
        )
        space = f"t{next(_numbers)}-{uuid.uuid4().hex[:6]}"
        api = Api(session=session, tokens=tokens, space=space, forget=forget, kind=request.param)
        await api.make("/api/v1/namespaces", {"metadata": {"name": space}})
        await api.until("the namespace's default objects", lambda: _has_defaults(api))
        try:
            yield api
        finally:
            for path in [
                *(f"/api/v1/nodes/{name}" for name in api.nodes),
                *api.undo,
                f"/api/v1/namespaces/{space}",
            ]:
                await api.call("DELETE", path)
            for name in api.nodes:
                await api.gone(f"/api/v1/nodes/{name}")


async def _has_defaults(api: Api) -> bool:
    """Whether the objects that controllers put into every namespace exist.

    They come in any order and at any time after the namespace. A test that lists or watches
    ConfigMaps must not see one of them come in the middle.
    """
    defaults = ("serviceaccounts/default", "configmaps/kube-root-ca.crt")
    codes = [(await api.get(f"/api/v1/namespaces/{{ns}}/{path}")).code for path in defaults]
    return codes == [200, 200]
