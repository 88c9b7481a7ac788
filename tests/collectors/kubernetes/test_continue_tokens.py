"""The continue token is found wherever the server puts the list's metadata, and whatever it contains."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from collectors.facts.results import SourceError
from collectors.sources.kubernetes.source import KubernetesSource

Connect = Callable[..., Awaitable[KubernetesSource]]
Serve = Callable[[Callable[[web.Request], Awaitable[web.StreamResponse]]], Awaitable[str]]

# The metadata of an object, which may come before the list's, must not be mistaken for it.
DECOY = '"metadata":{"continue":"nor this"}'
ITEMS = [{"metadata": {"name": "n1", "annotations": {"continue": "not this", "a": DECOY}}}]


def body(order: str, token: str, **style: Any) -> bytes:
    parts: dict[str, Any] = {
        "kind": "NodeList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "7", **({"continue": token} if token else {})},
        "items": ITEMS,
    }
    return json.dumps({name: parts[name] for name in order.split()}, **style).encode()


TIGHT = {"separators": (",", ":")}


@pytest.mark.parametrize(
    ("order", "token", "style"),
    [
        pytest.param("kind apiVersion metadata items", "plain", TIGHT, id="as for built-in kinds"),
        pytest.param("apiVersion items kind metadata", "plain", TIGHT, id="as for custom kinds"),
        pytest.param("metadata items", "plain", TIGHT, id="without a kind"),
        pytest.param("kind apiVersion metadata items", "a}b{c", TIGHT, id="with braces in the token"),
        pytest.param(
            "kind apiVersion metadata items", 'a"}b\\', TIGHT, id="with a quote and a brace in the token"
        ),
        pytest.param("kind apiVersion metadata items", "plain", {"indent": 1}, id="written with spaces"),
    ],
)
async def test_the_next_page_is_requested_with_its_token(
    order: str, token: str, style: dict[str, Any], serve: Serve, connect: Connect
) -> None:
    tokens: list[str] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        tokens.append(request.query.get("continue", ""))
        page = body(order, "" if tokens[-1] else token, **style)
        return web.Response(body=page, content_type="application/json")

    source = await connect(await serve(answer))
    assert len([page async for page in source.pages("/api/v1/nodes")]) == 2
    assert tokens == ["", token]


@pytest.mark.parametrize("answer", [b"[]", b"<html>", b'{"metadata":3}', b""])
async def test_a_response_without_a_list_is_an_error(answer: bytes, serve: Serve, connect: Connect) -> None:
    async def respond(_: web.Request) -> web.StreamResponse:
        return web.Response(body=answer, content_type="application/json")

    source = await connect(await serve(respond))
    with pytest.raises(SourceError, match="answered GET /api/v1/nodes without a list"):
        await anext(source.pages("/api/v1/nodes"))
